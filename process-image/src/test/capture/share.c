/* Descriptors that share: the file `ready` of the scratch directory says which are which. Then it only waits. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUST(x) \
    do { \
        if ((long)(x) < 0) { \
            perror(#x); \
            exit(1); \
        } \
    } while (0)

int main(int argc, char **argv) {
    MUST(chdir(argc > 1 ? argv[1] : "."));
    int a = open("file", O_RDWR | O_CREAT, 0600), b = open("file", O_RDONLY), c = dup(a),
        gone = open("gone", O_RDWR | O_CREAT, 0600);
    int p[2], stream[2], datagram[2], full[2], idle;
    MUST(write(a, "0123456789", 10));
    MUST(lseek(b, 4, SEEK_SET));
    MUST(write(gone, "unlinked", 8));
    MUST(unlink("gone"));
    MUST(pipe2(p, O_CLOEXEC));
    MUST(write(p[1], "hello", 5));
    MUST(pipe(full));
    MUST(fcntl(full[1], F_SETFL, O_NONBLOCK));
    char block[4096] = {7};
    while (write(full[1], block, sizeof block) > 0) {
    }
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
    MUST(write(stream[0], "to one", 6));
    MUST(write(stream[1], "to zero", 7));
    MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagram));
    MUST(send(datagram[0], "first", 5, 0));
    MUST(send(datagram[0], "second one", 10, 0));
    MUST(idle = epoll_create1(0));
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x1234567890abcdef};
    MUST(epoll_ctl(idle, EPOLL_CTL_ADD, stream[1], &event));
    pid_t child = fork();
    if (child) {
        FILE *ready = fopen("ready.new", "w");
        fprintf(ready, "a=%d b=%d c=%d gone=%d read=%d write=%d full=%d s0=%d s1=%d d1=%d epoll=%d child=%d", a, b, c,
                gone, p[0], p[1], full[0], stream[0], stream[1], datagram[1], idle, child);
        fclose(ready);
        MUST(rename("ready.new", "ready"));
    }
    for (;;) pause();
}
