// Being told by the system that something has happened to a path: inotify(7).
#pragma once
#include <stdint.h>

enum clx_watch {
    /// As `clx_watch_contents`, and what is written into its files.
    clx_watch_writes,
    /// Whatever enters, leaves or changes in a folder, and the end of the folder itself.
    clx_watch_contents,
    /// A name that appears in a folder, and the end of the folder itself.
    clx_watch_arrivals,
    /// That a folder is moved or removed.
    clx_watch_place,
};
/// A descriptor that becomes readable when something happened; close-on-exec and non-blocking, or
/// -1.
int clx_watch_create(void);
/// Watches a folder, or changes what is watched of one that is watched already: its number, or -1.
int clx_watch_folder(int watch, const char *path, enum clx_watch what);
void clx_watch_forget(int watch, int folder);
/// Throws away what has happened, in at most so many reads of 16 KiB.
void clx_watch_drain(int watch, int reads);
