/* A stretch of network in which frames are late, lost, doubled, out of order, or wait for room, where the kernel has no
 * netem:
 *
 *     troubled_wire ETH1 ETH2 [delay=MICROSECONDS] [jitter=MICROSECONDS] [loss=PERCENT] [duplicate=PERCENT]
 * [reorder=PERCENT] [rate=BITS] [seed=N]
 *
 * passes all frames between two Ethernet interfaces of its network namespace, both ways, until it is killed. Needs
 * CAP_NET_RAW. It says "ready" when no frame is missed any more. Each way is one of its own: a frame that is not out of
 * order leaves after those before it, DELAY plus or minus up to JITTER after it came; one that is leaves at once. With
 * a rate it first waits until the frames before it have passed; more than QUEUE_NS of that, and it is lost.
 *
 * A frame can be a segment of up to 64 KiB whose checksums the sender leaves to the device: packet(7)'s virtio_net_hdr
 * passes that on. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23 /* Linux 4.20 */
#endif

enum {
    BUFFER_BYTES = 16 << 20,
    FRAME_BYTES = 128 << 10,
    FRAMES_AT_ONCE = 64,
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    QUEUE_NS = 300000000
};

struct trouble {
    double delay, jitter, loss, duplicate, reorder, rate, seed;
};

struct frame {
    int64_t due;
    struct frame *next;
    size_t bytes;
    char data[];
};

struct way {
    int from, to;
    struct frame *first, **end;
    int64_t last_due, free_at;
};

static struct trouble trouble;

static void fail(const char *what)
{
    fprintf(stderr, "troubled_wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)NS_PER_S + time.tv_nsec;
}

static int happens(double percent)
{
    return drand48() * 100 < percent;
}

static int open_interface(const char *name)
{
    int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, bytes = BUFFER_BYTES;
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = if_nametoindex(name)};
    if (fd < 0 || !address.sll_ifindex || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) ||
        bind(fd, (struct sockaddr *)&address, sizeof address))
        fail(name);
    return fd;
}

static void pass(struct way *way, const char *data, size_t bytes)
{
    /* A receiver without room loses a frame, and so does an interface that is being changed. */
    if (send(way->to, data, bytes, 0) < 0 && errno != ENOBUFS && errno != ENETDOWN && errno != ENXIO)
        fail("sending a frame");
}

static void put_off(struct way *way, const char *data, size_t bytes, int64_t due)
{
    struct frame *frame = malloc(sizeof *frame + bytes);
    if (!frame)
        fail("a frame's memory");
    *frame = (struct frame){.due = due, .bytes = bytes};
    memcpy(frame->data, data, bytes);
    *way->end = frame;
    way->end = &frame->next;
}

static void came(struct way *way, const char *data, size_t bytes, int64_t time)
{
    int64_t start = time > way->free_at ? time : way->free_at;
    if (happens(trouble.loss) || start - time > QUEUE_NS)
        return;
    if (happens(trouble.reorder)) {
        pass(way, data, bytes);
        return;
    }
    way->free_at = trouble.rate ? start + (int64_t)(8.0 * bytes / trouble.rate * NS_PER_S) : time;
    int64_t due = way->free_at + (int64_t)((trouble.delay + (2 * drand48() - 1) * trouble.jitter) * NS_PER_US);
    way->last_due = due > way->last_due ? due : way->last_due;
    put_off(way, data, bytes, way->last_due);
    if (happens(trouble.duplicate))
        put_off(way, data, bytes, way->last_due);
}

static void receive(struct way *way)
{
    static char data[FRAME_BYTES];
    for (int i = 0; i < FRAMES_AT_ONCE; i++) {
        ssize_t bytes = recv(way->from, data, sizeof data, MSG_DONTWAIT);
        if (bytes < 0 && errno != EAGAIN && errno != ENETDOWN)
            fail("receiving a frame");
        if (bytes <= (ssize_t)sizeof(struct virtio_net_hdr))
            return;
        came(way, data, bytes, now());
    }
}

static void send_due(struct way *way)
{
    while (way->first && way->first->due <= now()) {
        struct frame *frame = way->first;
        way->first = frame->next;
        if (!way->first)
            way->end = &way->first;
        pass(way, frame->data, frame->bytes);
        free(frame);
    }
}

static void wait_for_something(const struct way *ways)
{
    struct pollfd sockets[] = {{.fd = ways[0].from, .events = POLLIN}, {.fd = ways[1].from, .events = POLLIN}};
    int64_t due = INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (ways[i].first && ways[i].first->due < due)
            due = ways[i].first->due;
    int64_t left = due == INT64_MAX ? 0 : due - now();
    struct timespec timeout = {.tv_sec = left > 0 ? left / NS_PER_S : 0, .tv_nsec = left > 0 ? left % NS_PER_S : 0};
    if (ppoll(sockets, 2, due == INT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR)
        fail("waiting for frames");
}

static void read_word(const char *word)
{
    static const char *const names[] = {"delay=", "jitter=", "loss=", "duplicate=", "reorder=", "rate=", "seed="};
    double *values[] = {&trouble.delay,   &trouble.jitter, &trouble.loss, &trouble.duplicate,
                        &trouble.reorder, &trouble.rate,   &trouble.seed};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        char *end;
        if (!strncmp(word, names[i], length)) {
            *values[i] = strtod(word + length, &end);
            if (end != word + length && !*end && *values[i] >= 0)
                return;
        }
    }
    fprintf(stderr, "troubled_wire: what is '%s'?\n", word);
    exit(64);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: troubled_wire ETH1 ETH2 [NAME=VALUE...]\n");
        return 64;
    }
    for (int i = 3; i < argc; i++)
        read_word(argv[i]);
    srand48((long)trouble.seed);
    int one = open_interface(argv[1]), two = open_interface(argv[2]);
    struct way ways[] = {{.from = one, .to = two}, {.from = two, .to = one}};
    ways[0].end = &ways[0].first;
    ways[1].end = &ways[1].first;
    puts("ready");
    fflush(stdout);
    for (;;) {
        wait_for_something(ways);
        for (int i = 0; i < 2; i++) {
            receive(&ways[i]);
            send_due(&ways[i]);
        }
    }
}
