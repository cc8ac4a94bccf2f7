#define _GNU_SOURCE
#include "pathwatch.h"
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

int clx_watch_create(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

int clx_watch_folder(int watch, const char *path, enum clx_watch what) {
    uint32_t mask = IN_ONLYDIR | IN_DELETE_SELF | IN_MOVE_SELF;
    if (what != clx_watch_place) mask |= IN_CREATE | IN_MOVED_TO;
    if (what == clx_watch_contents || what == clx_watch_writes)
        mask |= IN_DELETE | IN_MOVED_FROM | IN_ATTRIB;
    if (what == clx_watch_writes) mask |= IN_MODIFY;
    return inotify_add_watch(watch, path, mask);
}

void clx_watch_forget(int watch, int folder) {
    // A folder that is gone took its watch with it.
    inotify_rm_watch(watch, folder);
}

void clx_watch_drain(int watch, int reads) {
    char buffer[16 << 10];
    ssize_t count = 1;
    for (; reads > 0 && (count > 0 || errno == EINTR); reads--)
        count = read(watch, buffer, sizeof buffer);
}
