// How a device is started, what it inherits, and how its end is read.
//
// A device finds: fd 0 /dev/null, fd 1 and 2 pipes to the kernel's log, fd 3 its cable, fd 4 its
// life line, fd 5 its status page, and nothing from fd 6 on.
#pragma once
#include <stdint.h>

enum { clx_fd_cable = 3, clx_fd_lifeline = 4, clx_fd_page = 5, clx_fd_first_free = 6 };

/// A pair for setrlimit(2); not set, the child has what its parent has.
struct clx_limit {
    int is_set;
    uint64_t soft, hard;
};

/// What to start. Descriptors may overlap 0 to 5; -1 leaves the child's number closed.
struct clx_launch {
    const char *path;         // no search: as execve(2) takes it
    char *const *argv;
    char *const *envp;        // the whole environment
    const char *directory;    // to start in, or NULL
    int out, err;             // log pipes, write ends
    int cable;
    int lifeline;             // read end of a pipe whose write end only the kernel holds
    int page;
    struct clx_limit nofile, memory, cpu, core;  // memory is RLIMIT_AS in bytes, cpu in seconds
    int *failed_step;         // out, may be NULL: the clx_step that failed
};

enum clx_step {
    clx_step_clone = 1, clx_step_group, clx_step_descriptors, clx_step_lifeline, clx_step_limits,
    clx_step_parent, clx_step_directory, clx_step_exec
};

/// Starts a process as the leader of a group of its own and returns its number, or -errno of the
/// step that failed; then no process is left. Returns after the exec. The process dies with the
/// calling thread.
int32_t clx_launch(const struct clx_launch *spec);

/// For devices: from now on SIGIO ends the process group only if the kernel is gone, which is asked
/// of the life line `fd`. Without this call any SIGIO ends the process, which serves a device in
/// another language. 0 or -errno.
int clx_arm_lifeline(int fd);

/// Whether the life line's other end is gone.
int clx_lifeline_is_cut(int fd);

/// How a process has ended.
struct clx_exit {
    int signal;               // 0 if it exited
    int code;                 // its exit code
    int dumped_core;
    uint64_t cpu_microseconds;  // of the process and of what it has waited for
    uint64_t resident_bytes;    // the most that was ever resident
};

/// Reaps a child through its handle, never blocking: 1 reaped, 0 not dead yet, -errno.
int clx_reap(int pidfd, struct clx_exit *result);
/// Reaps a child that came here as an orphan, never blocking: 1 reaped, 0 it lives, -ECHILD if it
/// is no child of this process. A child that lives keeps its number until it is reaped.
int clx_reap_orphan(int32_t pid);
/// Whether a child is stopped by a signal now; nothing is reaped or taken from a later wait.
/// -errno.
int clx_is_stopped(int pidfd);

/// Sets the soft limit of descriptors to the hard one and tells what both were before; 0 or -errno.
int clx_raise_nofile(uint64_t *soft, uint64_t *hard);
/// Children must stay to be reaped, whatever disposition of SIGCHLD this process was started with.
void clx_keep_children(void);
/// From now on what descends from this process and loses its parent becomes its child; 0 or -errno.
int clx_adopt_orphans(void);

/// The status page: one memory file of `clx_page_size` bytes. The device writes it, the kernel
/// reads it at its tick and at the device's death.
///
/// | offset | size | meaning, host byte order |
/// |---|---|---|
/// | 0 | 8 | turns of the loop, 1 at least; 0 while nobody keeps the page |
/// | 8 | 8 | asleep: 1 in epoll_wait, set before, cleared after; else 0 |
/// | 16 | 8 | the highest visit begun |
/// | 24 | 8 | the visit whose code runs now, 0 between |
/// | 32 | 8 | 1: the process traps because it was refused memory, else 0 |
struct clx_page {
    uint64_t turns, asleep, begun, running, exhausted;
};

enum { clx_page_size = 4096 };

/// For a device that has a limit of memory: marks `exhausted` when the process traps because an
/// allocation was refused, so that its end is told from other traps. Does nothing without a limit.
void clx_watch_memory(struct clx_page *page);

// Plain stores of aligned words, released so that the order of the writer is the order of the
// reader: `running` is never seen above `begun`.
static inline void clx_page_turn(struct clx_page *page, uint64_t turns) {
    __atomic_store_n(&page->asleep, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page->turns, turns, __ATOMIC_RELEASE);
}

static inline void clx_page_sleep(struct clx_page *page) {
    __atomic_store_n(&page->asleep, 1, __ATOMIC_RELEASE);
}

/// A visit's code starts for the first time.
static inline void clx_page_begin(struct clx_page *page, uint64_t visit) {
    if (visit > page->begun) __atomic_store_n(&page->begun, visit, __ATOMIC_RELEASE);
    __atomic_store_n(&page->running, visit, __ATOMIC_RELEASE);
}

/// The code of a visit that has begun runs again (`visit`), or rests (0).
static inline void clx_page_run(struct clx_page *page, uint64_t visit) {
    __atomic_store_n(&page->running, visit, __ATOMIC_RELEASE);
}

static inline struct clx_page clx_page_read(const struct clx_page *page) {
    struct clx_page copy;
    copy.running = __atomic_load_n(&page->running, __ATOMIC_ACQUIRE);
    copy.begun = __atomic_load_n(&page->begun, __ATOMIC_ACQUIRE);
    copy.asleep = __atomic_load_n(&page->asleep, __ATOMIC_ACQUIRE);
    copy.exhausted = __atomic_load_n(&page->exhausted, __ATOMIC_ACQUIRE);
    copy.turns = __atomic_load_n(&page->turns, __ATOMIC_ACQUIRE);
    return copy;
}
