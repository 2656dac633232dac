/* TCP connections of both families between two processes: unread bytes both ways, ends that were shut or closed,
 * options, names. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { LIVE, QUEUED, HALF, BOTH, CLOSED_PEER, DEAF, MAPPED, LINKS };
#define LARGE 300000

typedef struct {
  int client, server;
  struct sockaddr_in6 names[4]; /* the client's own and its peer's, the server's own and its peer's */
} Link;

static Link links[LINKS];
static char large[LARGE];

static void names(const Link *link, struct sockaddr_in6 *into, const char *what) {
  memset(into, 0, 4 * sizeof *into);
  for (int i = 0; i < 4; i++) {
    socklen_t length = sizeof *into;
    int fd = i < 2 ? link->client : link->server;
    if (fd >= 0) CHECK(!(i % 2 ? getpeername : getsockname)(fd, (void *)&into[i], &length), "%s: name %d", what, i);
  }
}

/* A listener on a port of the kernel's choice. */
static int listen_on(int family, struct sockaddr_storage *address, socklen_t *length) {
  int fd = socket(family, SOCK_STREAM, 0);
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  *length = family == AF_INET ? sizeof v4 : sizeof v6;
  memcpy(address, family == AF_INET ? (void *)&v4 : &v6, *length);
  MUST(fd >= 0 && !bind(fd, (void *)address, *length) && !listen(fd, 5) && !getsockname(fd, (void *)address, length));
  return fd;
}

static Link connect_to(int listener, int family, const struct sockaddr_storage *address, socklen_t length) {
  Link link = {.client = socket(family, SOCK_STREAM, 0)};
  MUST(link.client >= 0 && !connect(link.client, (const void *)address, length));
  MUST((link.server = accept(listener, NULL, NULL)) >= 0);
  return link;
}

static bool ipv6(void) {
  int fd = socket(AF_INET6, SOCK_STREAM, 0);
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  bool there = fd >= 0 && !bind(fd, (void *)&v6, sizeof v6);
  if (fd >= 0) close(fd);
  return there;
}

static void queue(int fd, int bytes, uint64_t seed) {
  fill_pattern(large, bytes, seed);
  MUST(send(fd, large, bytes, 0) == bytes);
}

static void take(int fd, int bytes, uint64_t seed, const char *what) {
  int there; /* what is larger than the receiver's room is still on its way */
  CHECK(!ioctl(fd, FIONREAD, &there) && (there == bytes || bytes == LARGE), "%s: %d bytes wait, not %d", what, there,
        bytes);
  CHECK(recv(fd, large, bytes, MSG_WAITALL) == bytes, "%s: recv", what);
  check_pattern(large, bytes, seed, what);
}

static void check_end(int fd, const char *what) {
  char byte;
  CHECK(recv(fd, &byte, 1, MSG_DONTWAIT) == 0, "%s: no end of the stream", what);
}

/* The other process has the server's end of LIVE. */
static void echo(int fd) {
  feature_child();
  uint64_t word;
  while (recv(fd, &word, 8, MSG_WAITALL) == 8) {
    feature_finishing();
    word = ~word;
    CHECK(send(fd, &word, 8, 0) == 8, "echo");
  }
  _exit(0);
}

static int option(int fd, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  CHECK(!getsockopt(fd, level, name, &value, &length), "getsockopt");
  return value;
}

static void set_up(void) {
  struct sockaddr_storage address;
  socklen_t length;
  int listener = listen_on(ipv6() ? AF_INET6 : AF_INET, &address, &length);
  for (int i = 0; i < LINKS; i++) {
    if (i == QUEUED) { /* the rest are IPv4 */
      close(listener);
      listener = listen_on(AF_INET, &address, &length);
    }
    links[i] = connect_to(listener, address.ss_family, &address, length);
  }
  close(listener);
  if (!ipv6()) return;
  close(links[MAPPED].client), close(links[MAPPED].server);
  struct sockaddr_in6 any = {.sin6_family = AF_INET6};
  listener = socket(AF_INET6, SOCK_STREAM, 0);
  length = sizeof any;
  MUST(!bind(listener, (void *)&any, length) && !listen(listener, 1) && !getsockname(listener, (void *)&any, &length));
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = any.sin6_port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  memcpy(&address, &v4, sizeof v4);
  links[MAPPED] = connect_to(listener, AF_INET, &address, sizeof v4);
  close(listener);
}

static void fill(void) {
  int client = links[QUEUED].client, yes = 1, idle = 77, size = 50000;
  struct linger linger = {1, 3};
  MUST(!setsockopt(client, SOL_TCP, TCP_NODELAY, &yes, 4) && !setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &yes, 4));
  MUST(!setsockopt(client, SOL_TCP, TCP_KEEPIDLE, &idle, 4) &&
       !setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
  MUST(!setsockopt(links[QUEUED].server, SOL_SOCKET, SO_RCVBUF, &size, 4) && !fcntl(client, F_SETFL, O_NONBLOCK));
  MUST(!fcntl(links[QUEUED].server, F_SETFD, FD_CLOEXEC));
  queue(links[QUEUED].client, 1000, 1), queue(links[QUEUED].server, 70000, 2);
  queue(links[HALF].client, LARGE, 3);
  MUST(!shutdown(links[HALF].client, SHUT_WR));
  queue(links[BOTH].client, 17, 4), queue(links[BOTH].server, 18, 5);
  MUST(!shutdown(links[BOTH].client, SHUT_WR) && !shutdown(links[BOTH].server, SHUT_WR));
  queue(links[CLOSED_PEER].client, 5000, 6), close(links[CLOSED_PEER].client), links[CLOSED_PEER].client = -1;
  queue(links[DEAF].client, 9, 7);
  MUST(!shutdown(links[DEAF].server, SHUT_RD));
}

static void check_options(void) {
  int client = links[QUEUED].client;
  struct linger linger;
  socklen_t length = sizeof linger;
  CHECK(option(client, SOL_TCP, TCP_NODELAY) == 1 && option(client, SOL_SOCKET, SO_KEEPALIVE) == 1,
        "TCP_NODELAY or SO_KEEPALIVE is lost");
  CHECK(option(client, SOL_TCP, TCP_KEEPIDLE) == 77 && option(links[QUEUED].server, SOL_TCP, TCP_NODELAY) == 0,
        "TCP_KEEPIDLE is lost, or TCP_NODELAY came");
  CHECK(!getsockopt(client, SOL_SOCKET, SO_LINGER, &linger, &length) && linger.l_onoff && linger.l_linger == 3,
        "SO_LINGER is lost");
  CHECK(option(links[QUEUED].server, SOL_SOCKET, SO_RCVBUF) == 100000, "SO_RCVBUF became %d",
        option(links[QUEUED].server, SOL_SOCKET, SO_RCVBUF));
  check_flags(client, O_RDWR | O_NONBLOCK, 0, "client");
  check_flags(links[QUEUED].server, O_RDWR, FD_CLOEXEC, "server");
}

static void check_ends(void) {
  take(links[QUEUED].server, 1000, 1, "client to server"), take(links[QUEUED].client, 70000, 2, "server to client");
  take(links[HALF].server, LARGE, 3, "half-closed"), check_end(links[HALF].server, "half-closed");
  queue(links[HALF].server, 30, 8), take(links[HALF].client, 30, 8, "half-closed, the other direction");
  CHECK(send(links[HALF].client, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE, "half-closed: it can send");
  take(links[BOTH].server, 17, 4, "ended, server"), take(links[BOTH].client, 18, 5, "ended, client");
  check_end(links[BOTH].server, "ended, server"), check_end(links[BOTH].client, "ended, client");
  CHECK(send(links[BOTH].server, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE, "ended: it can send");
  take(links[CLOSED_PEER].server, 5000, 6, "closed peer"), check_end(links[CLOSED_PEER].server, "closed peer");
  take(links[DEAF].server, 9, 7, "deaf"), check_end(links[DEAF].server, "deaf");
  queue(links[DEAF].server, 9, 9), take(links[DEAF].client, 9, 9, "deaf, the other direction");
  queue(links[MAPPED].server, 40, 10), take(links[MAPPED].client, 40, 10, "IPv4 at an IPv6 socket");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  set_up();
  fill();
  int duplicate = dup(links[LIVE].client);
  for (int i = 0; i < LINKS; i++)
    if (i != BOTH) names(&links[i], links[i].names, "at the start");
  MUST(duplicate >= 0);
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    close(links[LIVE].client), close(duplicate);
    echo(links[LIVE].server);
  }
  close(links[LIVE].server), links[LIVE].server = -1;
  memset(&links[LIVE].names[2], 0, 2 * sizeof links[LIVE].names[2]);
  feature_ready();
  for (uint64_t n = 0, got; !feature_finishing(); n++) {
    MUST(send(n % 2 ? duplicate : links[LIVE].client, &n, 8, 0) == 8);
    CHECK(recv(links[LIVE].client, &got, 8, MSG_WAITALL) == 8 && got == ~n, "sent %lu, got %lu", n, got);
    if (n % 16 == 0) pause_ms(2);
  }
  for (int i = 0; i < LINKS; i++) {
    struct sockaddr_in6 now[4];
    if (i == BOTH) continue;
    names(&links[i], now, "in the end");
    CHECK(!memcmp(now, links[i].names, sizeof now), "the names of link %d have changed", i);
  }
  check_options();
  check_ends();
  close(duplicate), close(links[LIVE].client);
  int status;
  MUST(waitpid(child, &status, 0) == child && status == 0);
  return feature_pass();
}
