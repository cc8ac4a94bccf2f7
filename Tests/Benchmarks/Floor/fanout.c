// The floor of a fan-out: bytes that come from one source are copied to many sockets.
//
//     fanout floor SUBSCRIBERS ROUNDS BYTES        prints   elapsed_ns hub_cpu_ns
//     fanout drain SOCKET SUBSCRIBERS ROUNDS HEX   prints   ready, then elapsed_ns bytes
//
// The floor is three processes, as a device, the kernel and its clients are: a source sends a
// message and waits for its acknowledgement, the hub writes the message to every socket, a drain
// reads them all. `drain` is that drain as the subscribers of a kernel: it connects to its socket,
// sends each time the frames that HEX says, and counts the frames that are patches (kind 46).
// The time is that from the first patch to the last.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 18, PATCH = 46, REPLY = 43, ACK = 16 };

static void fail(const char *what) {
    fprintf(stderr, "fanout: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void write_all(int socket, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t put = send(socket, next, count, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail("send");
        next += put;
        count -= (size_t)put;
    }
}

static void read_all(int socket, void *bytes, size_t count) {
    ssize_t got = recv(socket, bytes, count, MSG_WAITALL);
    if (got != (ssize_t)count) fail("recv");
}

// One subscriber: what has come of a frame that is not whole.
struct subscriber {
    int socket, patches, replied;
    size_t held;
    unsigned char *rest;
};

struct drain {
    struct subscriber *all;
    int count, rounds, replied, finished, events;
    uint64_t first, last, bytes;
    unsigned char *room;
};

static void frame(struct drain *drain, struct subscriber *from, const unsigned char *body,
                  size_t length) {
    // [kind, 0, ...]: the kinds that matter take two bytes behind the head of the array.
    if (length < 3 || body[1] != 0x18) return;
    if (body[2] == REPLY && !from->replied) {
        from->replied = 1;
        drain->replied++;
    }
    if (body[2] != PATCH) return;
    if (drain->first == 0) drain->first = now_ns(CLOCK_MONOTONIC);
    drain->bytes += length + 4;
    if (++from->patches == drain->rounds) drain->finished++;
}

// Reads what one subscriber has been sent; what is left of a frame waits in its own buffer.
static void take(struct drain *drain, struct subscriber *from) {
    memcpy(drain->room, from->rest, from->held);
    ssize_t got = recv(from->socket, drain->room + from->held, ROOM - from->held, 0);
    if (got <= 0) fail("a subscriber was cut off");
    size_t end = from->held + (size_t)got, at = 0;
    while (end - at >= 4) {
        const unsigned char *head = drain->room + at;
        size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8;
        length |= head[3];
        if (end - at - 4 < length) break;
        frame(drain, from, head + 4, length);
        at += 4 + length;
    }
    from->held = end - at;
    if (from->held > ROOM / 2) fail("a frame is too large");
    from->rest = realloc(from->rest, from->held + 1);
    memcpy(from->rest, drain->room + at, from->held);
}

static void turn(struct drain *drain) {
    struct epoll_event ready[256];
    int count = epoll_wait(drain->events, ready, 256, 20000);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) fail("patches do not come");
    for (int i = 0; i < count; i++) take(drain, &drain->all[ready[i].data.u32]);
}

static struct drain make(int count, int rounds) {
    struct drain drain = {.count = count, .rounds = rounds};
    drain.all = calloc((size_t)count, sizeof *drain.all);
    drain.room = malloc(ROOM);
    drain.events = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) drain.all[i].rest = malloc(1);
    return drain;
}

static void add(struct drain *drain, int index, int socket) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    drain->all[index].socket = socket;
    if (epoll_ctl(drain->events, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
}

static void finish(struct drain *drain) {
    while (drain->finished < drain->count) turn(drain);
    drain->last = now_ns(CLOCK_MONOTONIC);
}

static int drain_main(const char *path, int count, int rounds, const char *hex) {
    struct drain drain = make(count, rounds);
    size_t size = strlen(hex) / 2;
    unsigned char *greeting = malloc(size);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail("hex");
        greeting[i] = (unsigned char)byte;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("path");
    strcpy(address.sun_path, path);
    for (int i = 0; i < count; i++) {
        int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address)) fail("connect");
        write_all(end, greeting, size);
        add(&drain, i, end);
    }
    while (drain.replied < count) turn(&drain);
    puts("ready");
    fflush(stdout);
    finish(&drain);
    printf("%llu %llu\n", (unsigned long long)(drain.last - drain.first),
           (unsigned long long)drain.bytes);
    return 0;
}

static void source(int hub, int rounds, size_t size) {
    unsigned char *message = calloc(1, size), ack[ACK];
    message[0] = (unsigned char)((size - 4) >> 24);
    message[1] = (unsigned char)((size - 4) >> 16);
    message[2] = (unsigned char)((size - 4) >> 8);
    message[3] = (unsigned char)(size - 4);
    message[4] = 0x85;
    message[5] = 0x18;
    message[6] = PATCH;
    for (int round = 0; round < rounds; round++) {
        write_all(hub, message, size);
        read_all(hub, ack, ACK);
    }
    exit(0);
}

static void hub(int device, const int *sockets, int count, int rounds, size_t size, int result) {
    unsigned char *message = malloc(size), ack[ACK] = {0};
    for (int round = 0; round < rounds; round++) {
        read_all(device, message, size);
        for (int i = 0; i < count; i++) write_all(sockets[i], message, size);
        write_all(device, ack, ACK);
    }
    uint64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (write(result, &cpu, sizeof cpu) != sizeof cpu) fail("write");
    exit(0);
}

static int floor_main(int count, int rounds, size_t size) {
    int device[2], result[2], (*pairs)[2] = calloc((size_t)count, sizeof *pairs);
    int *sockets = calloc((size_t)count, sizeof *sockets);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, device) || pipe(result)) fail("socketpair");
    for (int i = 0; i < count; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i])) fail("socketpair");
        sockets[i] = pairs[i][0];
    }
    struct drain drain = make(count, rounds);
    for (int i = 0; i < count; i++) add(&drain, i, pairs[i][1]);
    if (fork() == 0) hub(device[1], sockets, count, rounds, size, result[1]);
    if (fork() == 0) source(device[0], rounds, size);
    finish(&drain);
    uint64_t cpu;
    if (read(result[0], &cpu, sizeof cpu) != sizeof cpu) fail("the hub died");
    while (wait(NULL) > 0) continue;
    printf("%llu %llu\n", (unsigned long long)(drain.last - drain.first), (unsigned long long)cpu);
    return 0;
}

int main(int argc, char **argv) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (argc == 5 && strcmp(argv[1], "floor") == 0)
        return floor_main(atoi(argv[2]), atoi(argv[3]), (size_t)atoll(argv[4]));
    if (argc == 6 && strcmp(argv[1], "drain") == 0)
        return drain_main(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
    fprintf(stderr, "usage: fanout floor SUBSCRIBERS ROUNDS BYTES\n"
                    "       fanout drain SOCKET SUBSCRIBERS ROUNDS HEX\n");
    return 64;
}
