/* What odd.c does with connections that a restart would not make again. */
#ifndef ODD_CONNECTIONS_H
#define ODD_CONNECTIONS_H
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static int call(struct sockaddr_in to) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

/* {the calling end, the listener that has not accepted it} */
static void call_own(int fds[2]) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
    MUST(bind(fds[1], (struct sockaddr *)&address, length));
    MUST(listen(fds[1], 1));
    MUST(getsockname(fds[1], (struct sockaddr *)&address, &length));
    fds[0] = call(address);
}

static void tcp_urgent(void) {
    int fds[2];
    call_own(fds);
    MUST(accept(fds[1], NULL, NULL));
    MUST(send(fds[0], "!", 1, MSG_OOB));
}

static void tcp_early(void) {
    int fds[2];
    call_own(fds);
    MUST(send(fds[0], "early", 5, 0));
}

/* Calls from a port to the same port: a simultaneous open with itself. */
static void tcp_self(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    MUST(bind(fd, (struct sockaddr *)&address, length));
    MUST(getsockname(fd, (struct sockaddr *)&address, &length));
    MUST(connect(fd, (struct sockaddr *)&address, length));
}

/* A unix connection that nobody has accepted, with what no restart sends again. */
static void unix_early(const char *what) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "early"}, name = address;
    int server = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(name.sun_path, "client");
    if (!strcmp(what, "name")) MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
    MUST(bind(server, (struct sockaddr *)&address, sizeof address));
    MUST(listen(server, 1));
    MUST(connect(fd, (struct sockaddr *)&address, sizeof address));
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } along = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    static char byte;
    struct msghdr message = {
        .msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1, .msg_control = &along, .msg_controllen = sizeof along};
    memcpy(CMSG_DATA(&along.header), &fd, sizeof fd);
    if (!strcmp(what, "urgent")) MUST(send(fd, &byte, 1, MSG_OOB));
    else if (!strcmp(what, "descriptors")) MUST(sendmsg(fd, &message, 0));
    else MUST(close(fd));
}

/* A packet socket whose ring is mapped. */
static void packet_ring(void) {
    struct tpacket_req ring = {4096, 1, 1024, 4};
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    MUST(setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring));
    MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
}

/* One of a group that a program chooses from. */
static void packet_group(void) {
    struct sockaddr_ll name = {.sll_family = AF_PACKET, .sll_protocol = htons(0x88b5), .sll_ifindex = 1};
    int fd = socket(AF_PACKET, SOCK_RAW, 0), group = (getpid() & 0xffff) | PACKET_FANOUT_CBPF << 16;
    MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
    MUST(setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof group));
}

#endif
