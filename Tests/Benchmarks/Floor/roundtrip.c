// The floor of a routed round trip: client, router and device as three processes in C.
//
//     roundtrip ROUNDS PAYLOAD WINDOW      prints   p50_ns p99_ns round_trips_per_s
//
// The shape is that of the real thing and nothing more. Two AF_UNIX stream pairs; frames of a
// 4-byte big-endian length, a 12-byte header (kind, sequence) and a payload. Each process is one
// thread around epoll that reads once, looks at every whole frame and writes once per turn. The
// router looks at the kind alone and passes requests to the device, replies to the client. The
// device answers each request with its own payload. The client keeps WINDOW requests in flight and
// checks the length, kind, sequence and last byte of every reply. A first tenth is not counted.
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 4, HEADER = 12, READ_SIZE = 256 << 10, PAYLOAD_MAX = 16 << 20 };
enum { REQUEST = 1, REPLY = 2 };

static void fail(const char *what) {
    fprintf(stderr, "roundtrip: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Bytes on their way: [first, whole) may go on, [whole, last) is the beginning of a frame.
struct stream {
    unsigned char *bytes;
    size_t size, first, whole, last;
};

static struct stream stream_of(size_t frame) {
    struct stream stream = {.size = 2 * frame + 2 * READ_SIZE};
    stream.bytes = malloc(stream.size);
    if (!stream.bytes) fail("malloc");
    return stream;
}

static uint32_t load32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return be32toh(value);
}

static void store32(unsigned char *at, uint32_t value) {
    value = htobe32(value);
    memcpy(at, &value, 4);
}

static size_t space(struct stream *stream) {
    if (stream->first == stream->last) {
        stream->first = stream->whole = stream->last = 0;
    } else if (stream->size - stream->last < READ_SIZE && stream->first > 0) {
        memmove(stream->bytes, stream->bytes + stream->first, stream->last - stream->first);
        stream->whole -= stream->first;
        stream->last -= stream->first;
        stream->first = 0;
    }
    return stream->size - stream->last;
}

typedef void (*each_frame)(unsigned char *, size_t);

// One read; calls `frame` for every frame that is whole now. Returns 0 at the end of the peer.
static int take(struct stream *stream, int fd, size_t limit, each_frame frame) {
    size_t most = space(stream);
    ssize_t got = read(fd, stream->bytes + stream->last, most);
    if (got == 0) return 0;
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) return 1;
        if (errno == ECONNRESET) return 0;
        fail("read");
    }
    stream->last += (size_t)got;
    while (stream->last - stream->whole >= LENGTH) {
        size_t length = load32(stream->bytes + stream->whole);
        if (length < HEADER || length > limit) {
            fprintf(stderr, "roundtrip: a frame of %zu bytes\n", length);
            exit(1);
        }
        if (stream->last - stream->whole < LENGTH + length) break;
        frame(stream->bytes + stream->whole + LENGTH, length);
        stream->whole += LENGTH + length;
    }
    return 1;
}

// One write of all that may go on. Returns 0 when the peer is gone.
static int give(struct stream *stream, int fd) {
    if (stream->first == stream->whole) return 1;
    size_t due = stream->whole - stream->first;
    ssize_t put = send(fd, stream->bytes + stream->first, due, MSG_NOSIGNAL);
    if (put < 0) {
        if (errno == EAGAIN || errno == EINTR) return 1;
        if (errno == EPIPE || errno == ECONNRESET) return 0;
        fail("send");
    }
    stream->first += (size_t)put;
    return 1;
}

// A descriptor in an epoll set, armed for what is wanted of it.
struct end {
    int fd;
    uint32_t armed;
};

static void join(int set, struct end *end, uint32_t number) {
    int flags = fcntl(end->fd, F_GETFL);
    if (flags < 0 || fcntl(end->fd, F_SETFL, flags | O_NONBLOCK)) fail("fcntl");
    end->armed = EPOLLIN;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    if (epoll_ctl(set, EPOLL_CTL_ADD, end->fd, &event)) fail("epoll_ctl");
}

static void want(int set, struct end *end, uint32_t number, int input, int output) {
    uint32_t events = (input ? EPOLLIN : 0) | (output ? EPOLLOUT : 0);
    if (events == end->armed) return;
    end->armed = events;
    struct epoll_event event = {.events = events, .data.u32 = number};
    if (epoll_ctl(set, EPOLL_CTL_MOD, end->fd, &event)) fail("epoll_ctl");
}

static int turn(int set, struct epoll_event *events, int most) {
    for (;;) {
        int count = epoll_wait(set, events, most, -1);
        if (count >= 0) return count;
        if (errno != EINTR) fail("epoll_wait");
    }
}

static void answer(unsigned char *frame, size_t length) {
    (void)length;
    store32(frame, REPLY);
}

static void expect_request(unsigned char *frame, size_t length) {
    (void)length;
    if (load32(frame) != REQUEST) fail("the client sent what is no request");
}

static void expect_reply(unsigned char *frame, size_t length) {
    (void)length;
    if (load32(frame) != REPLY) fail("the device sent what is no reply");
}

static void device(int fd, size_t limit) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct end end = {.fd = fd};
    struct stream stream = stream_of(LENGTH + limit);
    join(set, &end, 0);
    for (struct epoll_event event; turn(set, &event, 1);) {
        int open = 1;
        if (event.events & (EPOLLIN | EPOLLHUP)) open = take(&stream, fd, limit, answer);
        if (!open || !give(&stream, fd)) exit(0);
        want(set, &end, 0, space(&stream) > 0, stream.first < stream.whole);
    }
}

static void router(int client, int device, size_t limit) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct end ends[2] = {{.fd = client}, {.fd = device}};
    struct stream from[2] = {stream_of(LENGTH + limit), stream_of(LENGTH + limit)};
    each_frame expect[2] = {expect_request, expect_reply};
    for (uint32_t i = 0; i < 2; i++) join(set, &ends[i], i);
    for (struct epoll_event events[2];;) {
        int count = turn(set, events, 2);
        for (int i = 0; i < count; i++) {
            uint32_t side = events[i].data.u32;
            if (!(events[i].events & (EPOLLIN | EPOLLHUP)) || !space(&from[side])) continue;
            if (!take(&from[side], ends[side].fd, limit, expect[side])) exit(0);
        }
        for (uint32_t i = 0; i < 2; i++)
            if (!give(&from[i], ends[1 - i].fd)) exit(0);
        for (uint32_t i = 0; i < 2; i++) {
            int owed = from[1 - i].first < from[1 - i].whole;
            want(set, &ends[i], i, space(&from[i]) > 0, owed);
        }
    }
}

// The client's rounds: requests [answered, sent) are in flight.
static struct {
    size_t rounds, warm, payload, window, sent, answered;
    uint64_t *started, *took, turned, counted;
} run;

static void check(unsigned char *frame, size_t length) {
    uint64_t sequence;
    memcpy(&sequence, frame + 4, 8);
    sequence = be64toh(sequence);
    if (load32(frame) != REPLY || length != HEADER + run.payload || sequence != run.answered
        || frame[length - 1] != (unsigned char)sequence) {
        fprintf(stderr, "roundtrip: a bad reply in round %zu\n", run.answered);
        exit(1);
    }
    run.took[run.answered] = run.turned - run.started[run.answered % run.window];
    run.answered++;
    if (run.answered == run.warm) run.counted = run.turned;
}

static void request(struct stream *stream) {
    size_t length = HEADER + run.payload;
    unsigned char *frame = stream->bytes + stream->last;
    uint64_t sequence = htobe64(run.sent);
    store32(frame, (uint32_t)length);
    store32(frame + LENGTH, REQUEST);
    memcpy(frame + LENGTH + 4, &sequence, 8);
    memset(frame + LENGTH + HEADER, 'x', run.payload);
    frame[LENGTH + length - 1] = (unsigned char)run.sent;
    stream->last += LENGTH + length;
    stream->whole = stream->last;
    run.started[run.sent % run.window] = run.turned;
    run.sent++;
}

static void client(int fd, size_t limit) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct end end = {.fd = fd};
    struct stream in = stream_of(LENGTH + limit), out = stream_of(LENGTH + limit);
    size_t total = run.rounds + run.warm;
    join(set, &end, 0);
    run.turned = run.counted = now_ns();
    while (run.answered < total) {
        while (run.sent < total && run.sent - run.answered < run.window
               && space(&out) >= LENGTH + limit)
            request(&out);
        if (!give(&out, fd)) fail("the router is gone");
        want(set, &end, 0, 1, out.first < out.whole);
        struct epoll_event event;
        turn(set, &event, 1);
        run.turned = now_ns();
        if (event.events & (EPOLLIN | EPOLLHUP)) {
            if (!take(&in, fd, limit, check)) fail("the router is gone");
            in.first = in.whole;
            run.turned = now_ns();
        }
    }
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static size_t number(const char *text, const char *name, size_t least, size_t most) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || end == text || value < least || value > most) {
        fprintf(stderr, "roundtrip: %s is %s, not %zu to %zu\n", name, text, least, most);
        exit(64);
    }
    return (size_t)value;
}

static void wait_for(pid_t child, const char *name) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "roundtrip: the %s failed\n", name);
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: roundtrip ROUNDS PAYLOAD WINDOW\n");
        return 64;
    }
    run.rounds = number(arguments[1], "ROUNDS", 1, 100000000);
    run.payload = number(arguments[2], "PAYLOAD", 1, PAYLOAD_MAX);
    run.window = number(arguments[3], "WINDOW", 1, 65536);
    run.warm = run.rounds / 10;
    run.started = calloc(run.window, sizeof *run.started);
    run.took = calloc(run.rounds + run.warm, sizeof *run.took);
    if (!run.started || !run.took) fail("calloc");
    size_t limit = HEADER + run.payload;

    int near[2], far[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, near)) fail("socketpair");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, far)) fail("socketpair");
    pid_t routing = fork();
    if (routing < 0) fail("fork");
    if (routing == 0) {
        close(near[0]);
        close(far[1]);
        router(near[1], far[0], limit);
    }
    pid_t serving = fork();
    if (serving < 0) fail("fork");
    if (serving == 0) {
        close(near[0]);
        close(near[1]);
        close(far[0]);
        device(far[1], limit);
    }
    close(near[1]);
    close(far[0]);
    close(far[1]);
    client(near[0], limit);
    uint64_t elapsed = run.turned - run.counted;
    close(near[0]);
    wait_for(routing, "router");
    wait_for(serving, "device");

    uint64_t *counted = run.took + run.warm;
    qsort(counted, run.rounds, sizeof *counted, ascending);
    uint64_t median = counted[(run.rounds - 1) / 2];
    uint64_t late = counted[(size_t)((double)(run.rounds - 1) * 0.99)];
    double rate = elapsed ? (double)run.rounds * 1e9 / (double)elapsed : 0;
    printf("%llu %llu %.0f\n", (unsigned long long)median, (unsigned long long)late, rate);
    return 0;
}
