// A child that shares its parent's memory until it execs, and makes nothing but system calls: no
// lock of the parent can be held in it, and it costs the same however large the parent is. It has a
// stack of its own, for a parent that is killed meanwhile does not take the child with it.
#define _GNU_SOURCE
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    const struct clx_launch *spec;
    pid_t parent;
    int step, error;
};

static int fail(struct child *child, int step) {
    child->step = step;
    child->error = errno;
    return -1;
}

static void close_from(unsigned first) {
    if (close_range(first, ~0u, 0) == 0) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    for (unsigned fd = first; fd < limit.rlim_cur; fd++) close((int)fd);
}

/// Copies every source above the targets before the first target is overwritten.
static int place_descriptors(const struct clx_launch *spec) {
    int sources[clx_fd_first_free] = {
        -1, spec->out, spec->err, spec->cable, spec->lifeline, spec->page
    };
    for (int i = 1; i < clx_fd_first_free; i++) {
        if (sources[i] < 0) continue;
        sources[i] = fcntl(sources[i], F_DUPFD_CLOEXEC, clx_fd_first_free);
        if (sources[i] < 0) return -1;
    }
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0) return -1;
    sources[0] = fcntl(null, F_DUPFD_CLOEXEC, clx_fd_first_free);
    if (sources[0] < 0) return -1;
    for (int i = 0; i < clx_fd_first_free; i++) {
        if (sources[i] < 0) close(i);
        else if (dup2(sources[i], i) < 0) return -1;
    }
    close_from(clx_fd_first_free);
    return 0;
}

/// The kernel's death closes the other end, and that signals the whole group, however busy its
/// processes are.
static int tie_lifeline(void) {
    if (fcntl(clx_fd_lifeline, F_SETOWN, -getpid())) return -1;
    return fcntl(clx_fd_lifeline, F_SETFL, O_ASYNC | O_NONBLOCK);
}

static int set_limit(int resource, const struct clx_limit *limit) {
    struct rlimit value = { limit->soft, limit->hard };
    return limit->is_set ? setrlimit((__rlimit_resource_t)resource, &value) : 0;
}

static int prepare(struct child *child) {
    const struct clx_launch *spec = child->spec;
    // An ignored signal stays ignored over an exec, a handled one does not; and no handler may run
    // in here. The raw call also reaches the two signals that glibc keeps for itself; all zero is
    // the default action.
    unsigned long usual[8] = { 0 };
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        syscall(SYS_rt_sigaction, signal, usual, 0, sizeof(uint64_t));
    if (setpgid(0, 0)) return fail(child, clx_step_group);
    if (place_descriptors(spec)) return fail(child, clx_step_descriptors);
    if (spec->lifeline >= 0 && tie_lifeline()) return fail(child, clx_step_lifeline);
    if (set_limit(RLIMIT_NOFILE, &spec->nofile) || set_limit(RLIMIT_AS, &spec->memory)
        || set_limit(RLIMIT_CPU, &spec->cpu) || set_limit(RLIMIT_CORE, &spec->core))
        return fail(child, clx_step_limits);
    // First armed, then asked: a parent that died before would never send the signal.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return fail(child, clx_step_parent);
    if (getppid() != child->parent
        || (spec->lifeline >= 0 && clx_lifeline_is_cut(clx_fd_lifeline))) {
        errno = ESRCH;
        return fail(child, clx_step_parent);
    }
    if (spec->directory && chdir(spec->directory)) return fail(child, clx_step_directory);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, 0);
    execve(spec->path, spec->argv, spec->envp);
    return fail(child, clx_step_exec);
}

static int begin(void *argument) {
    prepare(argument);
    _exit(127);
}

pid_t clx_launch(const struct clx_launch *spec) {
    _Alignas(16) char stack[32 << 10];
    struct child child = { .spec = spec, .parent = getpid() };
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(begin, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (pid < 0) fail(&child, clx_step_clone);
    if (pid > 0 && child.error)
        while (waitpid(pid, 0, 0) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (spec->failed_step) *spec->failed_step = child.step;
    return child.error ? -child.error : pid;
}

static int armed_lifeline = -1;

static void lifeline_moved(int signal) {
    (void)signal;
    int before = errno;
    if (clx_lifeline_is_cut(armed_lifeline)) kill(0, SIGKILL);
    errno = before;
}

int clx_lifeline_is_cut(int fd) {
    struct pollfd end = { .fd = fd, .events = POLLIN };
    return poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0;
}

int clx_arm_lifeline(int fd) {
    if (fcntl(fd, F_GETFL) < 0) return -errno;
    armed_lifeline = fd;
    struct sigaction action = { .sa_handler = lifeline_moved, .sa_flags = SA_RESTART };
    if (sigaction(SIGIO, &action, 0)) return -errno;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    // The signal may have come while it was blocked or ignored.
    if (clx_lifeline_is_cut(fd)) kill(0, SIGKILL);
    return 0;
}

static struct clx_page *memory_page;

/// Whoever cannot allocate traps at once, in the same thread, and nothing has set errno since. It
/// is reset before the code of a visit runs.
static void trapped(int signal) {
    if (errno == ENOMEM) __atomic_store_n(&memory_page->exhausted, 1, __ATOMIC_RELEASE);
    // The handler is gone and the signal is not blocked: the process ends by it.
    raise(signal);
}

void clx_watch_memory(struct clx_page *page) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    memory_page = page;
    struct sigaction action = {
        .sa_handler = trapped, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)
    };
    int signals[] = { SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS };
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, 0);
}

/// The raw call, for it also tells what the child has used.
static int wait_on(
    idtype_t kind, int child, siginfo_t *info, int options, struct rusage *usage) {
    memset(info, 0, sizeof *info);
    long result;
    do result = syscall(SYS_waitid, kind, child, info, options | WNOHANG, usage);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : info->si_pid != 0;
}

int clx_reap(int pidfd, struct clx_exit *result) {
    siginfo_t info;
    struct rusage usage;
    memset(result, 0, sizeof *result);
    int reaped = wait_on(P_PIDFD, pidfd, &info, WEXITED, &usage);
    if (reaped <= 0) return reaped;
    if (info.si_code == CLD_EXITED) result->code = info.si_status;
    else result->signal = info.si_status;
    result->resident_bytes = (uint64_t)usage.ru_maxrss * 1024;
    result->dumped_core = info.si_code == CLD_DUMPED;
    result->cpu_microseconds =
        (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000
        + (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return 1;
}

int clx_reap_orphan(pid_t pid) {
    siginfo_t info;
    return wait_on(P_PID, pid, &info, WEXITED, 0);
}

int clx_is_stopped(int pidfd) {
    siginfo_t info;
    return wait_on(P_PIDFD, pidfd, &info, WSTOPPED | WNOWAIT, 0);
}

int clx_raise_nofile(uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return -errno;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

void clx_keep_children(void) {
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigaction(SIGCHLD, &usual, 0);
}

int clx_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) ? -errno : 0; }
