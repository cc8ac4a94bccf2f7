// The floor of a restart: a child is killed, reaped, started again and has answered.
//
//     respawn ROUNDS       prints   median_ns p95_ns
//     respawn child        (inner) answers requests on fd 3 until its end of file
//
// The parent holds the other end of the child's socket pair and a process handle (pidfd), as a
// supervisor does. A round is SIGKILL, the handle turns readable, waitid, vfork and exec of this
// program again, a request of 64 bytes written at once, its answer read. Nothing sleeps or polls.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CABLE = 3, REQUEST = 64 };

static void fail(const char *what) {
    fprintf(stderr, "respawn: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct child {
    pid_t pid;
    int handle, cable;
};

static int child_main(void) {
    char request[REQUEST];
    for (;;) {
        ssize_t got = recv(CABLE, request, sizeof request, MSG_WAITALL);
        if (got == 0) return 0;
        if (got != REQUEST) return 1;
        request[0]++;
        if (send(CABLE, request, sizeof request, MSG_NOSIGNAL) != REQUEST) return 1;
    }
}

static struct child start(void) {
    static char *const arguments[] = {"respawn", "child", NULL};
    static char *const environment[] = {NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) fail("socketpair");
    pid_t pid = vfork();
    if (pid == 0) {
        int placed = pair[1] == CABLE ? fcntl(CABLE, F_SETFD, 0) : dup2(pair[1], CABLE);
        if (placed >= 0) execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    if (pid < 0) fail("vfork");
    close(pair[1]);
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0) fail("pidfd_open");
    return (struct child){.pid = pid, .handle = handle, .cable = pair[0]};
}

static void ask(struct child child, char value) {
    char message[REQUEST] = {value};
    if (send(child.cable, message, sizeof message, MSG_NOSIGNAL) != REQUEST) fail("send");
    if (recv(child.cable, message, sizeof message, MSG_WAITALL) != REQUEST) fail("recv");
    if (message[0] != (char)(value + 1)) {
        fprintf(stderr, "respawn: a wrong answer\n");
        exit(1);
    }
}

static void reap(struct child child) {
    struct pollfd watched = {.fd = child.handle, .events = POLLIN};
    while (poll(&watched, 1, -1) < 0)
        if (errno != EINTR) fail("poll");
    siginfo_t info;
    if (waitid(P_PID, (id_t)child.pid, &info, WEXITED)) fail("waitid");
    if (info.si_code != CLD_KILLED || info.si_status != SIGKILL) {
        fprintf(stderr, "respawn: the child did not die of SIGKILL\n");
        exit(1);
    }
    close(child.handle);
    close(child.cable);
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count == 2 && !strcmp(arguments[1], "child")) return child_main();
    char *end = NULL;
    long rounds = count == 2 ? strtol(arguments[1], &end, 10) : 0;
    if (rounds < 1 || rounds > 1000000 || *end) {
        fprintf(stderr, "usage: respawn ROUNDS\n");
        return 64;
    }
    uint64_t *took = calloc((size_t)rounds, sizeof *took);
    if (!took) fail("calloc");

    struct child child = start();
    ask(child, 0);
    for (long round = 0; round < rounds; round++) {
        uint64_t began = now_ns();
        if (kill(child.pid, SIGKILL)) fail("kill");
        reap(child);
        child = start();
        ask(child, (char)(round % 64));
        took[round] = now_ns() - began;
    }
    if (kill(child.pid, SIGKILL)) fail("kill");
    reap(child);

    qsort(took, (size_t)rounds, sizeof *took, ascending);
    uint64_t median = took[(rounds - 1) / 2], late = took[(size_t)((double)(rounds - 1) * 0.95)];
    printf("%llu %llu\n", (unsigned long long)median, (unsigned long long)late);
    return 0;
}
