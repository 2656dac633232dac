/* Classic BPF programs that filter what sockets receive: UDP, TCP (accepted ones have their listener's), unix, netlink;
 * one that is locked, one shared by two processes, one with datagrams that have passed already. */
#include "feature.h"
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifndef SO_LOCK_FILTER
#define SO_LOCK_FILTER 44
#endif

/* Takes what has BYTE at OFFSET, and drops the rest. */
static struct sock_fprog only(struct sock_filter *program, unsigned offset, unsigned byte) {
  program[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offset);
  program[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, byte, 0, 1);
  program[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0xffff);
  program[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
  return (struct sock_fprog){4, program};
}

static void attach(int fd, unsigned offset, unsigned byte) {
  struct sock_filter program[4];
  struct sock_fprog filter = only(program, offset, byte);
  MUST(!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
}

static void check_filter(int fd, unsigned offset, unsigned byte, const char *what) {
  struct sock_filter wanted[4], got[16];
  only(wanted, offset, byte);
  socklen_t count = 16;
  CHECK(!getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, got, &count) && count == 4, "%s: a filter of %u instructions", what,
        count);
  CHECK(!memcmp(got, wanted, sizeof wanted), "%s: another filter", what);
}

/* Sends both, of which only one passes. */
static void check_passes(int from, int to, char passes, const char *what) {
  char other = passes + 1, got = 0;
  CHECK(send(from, &other, 1, 0) == 1 || errno == EPERM, "%s: sending", what); /* of unix sockets who sends is told */
  CHECK(send(from, &passes, 1, 0) == 1, "%s: sending what passes", what);
  CHECK(recv(to, &got, 1, 0) == 1 && got == passes, "%s: got %d", what, got);
  CHECK(recv(to, &got, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN, "%s: more has passed", what);
}

static int udp_pair(int *sender) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  *sender = socket(AF_INET, SOCK_DGRAM, 0);
  MUST(!bind(fd, (struct sockaddr *)&address, length) && !getsockname(fd, (struct sockaddr *)&address, &length));
  MUST(!connect(*sender, (struct sockaddr *)&address, length));
  return fd;
}

static int accepted(int listener, int *client) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  *client = socket(AF_INET, SOCK_STREAM, 0);
  MUST(!getsockname(listener, (struct sockaddr *)&address, &length));
  MUST(!connect(*client, (struct sockaddr *)&address, length));
  int fd = accept(listener, NULL, NULL);
  MUST(fd >= 0);
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int sender, waiting_sender, client, pair[2];
  int udp = udp_pair(&sender), waiting = udp_pair(&waiting_sender), listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  attach(udp, 8, 'a'); /* behind the UDP header */
  MUST(!setsockopt(udp, SOL_SOCKET, SO_LOCK_FILTER, &(int){1}, sizeof(int)));
  MUST(send(waiting_sender, "before", 6, 0) == 6);
  attach(waiting, 8, 'q');
  MUST(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, 3));
  struct sock_filter all[1] = {BPF_STMT(BPF_RET | BPF_K, 0xffff)};
  struct sock_fprog passing = {1, all};
  bool filters = !setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &passing, sizeof passing);
  int refused = filters ? 0 : errno;
  MUST(filters || (refused == EPERM && geteuid())); /* newer kernels permit it only to root on TCP */
  int stream = accepted(listener, &client);
  MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  attach(pair[1], 0, 'u');
  int route = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  MUST(route >= 0);
  attach(route, 4, 1);
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    while (access(scratch("leave"), F_OK)) pause_ms(3);
    check_filter(udp, 8, 'a', "in the child");
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    check_filter(udp, 8, 'a', "UDP");
    check_filter(waiting, 8, 'q', "UDP with a queue");
    check_filter(pair[1], 0, 'u', "unix");
    check_filter(route, 4, 1, "netlink");
    struct sock_filter got[4];
    socklen_t count = 4;
    CHECK(!getsockopt(stream, SOL_SOCKET, SO_GET_FILTER, got, &count) && count == filters, "a connection's filter");
    int locked = 0;
    socklen_t length = sizeof locked;
    CHECK(!getsockopt(udp, SOL_SOCKET, SO_LOCK_FILTER, &locked, &length) && locked == 1, "the filter is not locked");
    CHECK(setsockopt(udp, SOL_SOCKET, SO_DETACH_FILTER, &locked, sizeof locked) && errno == EPERM, "a locked filter");
    check_passes(sender, udp, 'a', "UDP");
    check_passes(pair[0], pair[1], 'u', "unix");
    char byte = 'x';
    CHECK(write(client, &byte, 1) == 1 && read(stream, &byte, 1) == 1 && byte == 'x', "TCP");
    pause_ms(3);
  }
  char text[8];
  CHECK(recv(waiting, text, sizeof text, MSG_DONTWAIT) == 6 && !memcmp(text, "before", 6), "what had passed before");
  MUST(close(open(scratch("leave"), O_CREAT | O_WRONLY, 0600)) == 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
