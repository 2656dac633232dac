/* Errors that TCP sockets have to tell next, which no call has asked for: of connections that the other end has given
 * up, with and without unread bytes, before and after the end of its stream, and of a call that nobody answered. Some
 * are shared with a child. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int listener, family;
static struct sockaddr_storage at;
static socklen_t length;

static int new_socket(void) {
  int fd = socket(family, SOCK_STREAM, 0);
  MUST(fd < 0 || !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
  return fd;
}

static void await(int fd, int events) {
  struct pollfd one = {fd, events, 0};
  MUST(poll(&one, 1, 10000) == 1 && (one.revents & (events ? events : POLLERR)));
}

/* An end whose other one is gone: it has sent bytes, perhaps ended its stream, and reset the connection. */
static int given_up(int accepted, const char *bytes, int ended) {
  int one = new_socket(), two;
  MUST(one >= 0 && !connect(one, (void *)&at, length) && (two = accept(listener, NULL, NULL)) >= 0);
  int own = accepted ? two : one, other = accepted ? one : two;
  MUST(write(other, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
  if (strlen(bytes)) await(own, POLLIN);
  if (ended) MUST(!shutdown(other, SHUT_WR));
  if (ended) await(own, POLLRDHUP);
  MUST(!setsockopt(other, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger)) && !close(other));
  await(own, 0);
  return own;
}

/* A call, while the one that had the port has gone. */
static int refused(int bound) {
  struct sockaddr_storage name = at;
  socklen_t size = sizeof name;
  int gone = new_socket(), fd = new_socket();
  ((struct sockaddr_in *)&name)->sin_port = 0; /* in both families at one place */
  MUST(gone >= 0 && fd >= 0 && !bind(gone, (void *)&name, length));
  MUST(!bound || !bind(fd, (void *)&name, length));
  MUST(!getsockname(gone, (void *)&name, &size) && !fcntl(fd, F_SETFL, O_NONBLOCK));
  MUST(connect(fd, (void *)&name, length) && errno == EINPROGRESS);
  await(fd, 0);
  close(gone);
  return fd;
}

static void tells(int fd, int error) {
  int now = 0;
  socklen_t size = sizeof now;
  MUST(!getsockopt(fd, SOL_SOCKET, SO_ERROR, &now, &size));
  CHECK(now == error, "the error was %s, is %s", strerror(error), strerror(now));
  MUST(!getsockopt(fd, SOL_SOCKET, SO_ERROR, &now, &size) && !now);
}

/* One that was connected, or not let in, and is neither any more: it tells a port that it does not hold. */
static int former(int accepted, int answered) {
  int fd = new_socket(), other = -1;
  if (answered) {
    MUST(fd >= 0 && !connect(fd, (void *)&at, length) && (other = accept(listener, NULL, NULL)) >= 0);
    if (accepted) {
      int calling = fd;
      fd = other, other = calling;
    }
    MUST(!connect(fd, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)) && !close(other));
  } else {
    close(fd);
    fd = refused(0);
    MUST(!fcntl(fd, F_SETFL, 0));
    tells(fd, ECONNREFUSED);
    MUST(!connect(fd, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)));
  }
  return fd;
}

/* Which port one tells; nobody holds it, so that it can be bound anew. */
static int port_of(int fd) {
  struct sockaddr_storage name = {0};
  socklen_t size = sizeof name;
  MUST(!getsockname(fd, (void *)&name, &size));
  return ((struct sockaddr_in *)&name)->sin_port;
}

static void binds(int fd, int before) {
  CHECK(port_of(fd) == before, "its port was %d, is %d", before, port_of(fd));
  struct sockaddr_storage name = at;
  ((struct sockaddr_in *)&name)->sin_port = 0;
  MUST(!bind(fd, (void *)&name, length) && !listen(fd, 1));
}

static void reads(int fd, const char *bytes, int error) {
  char got[16] = {0};
  ssize_t n = strlen(bytes) ? recv(fd, got, strlen(bytes), MSG_DONTWAIT) : 0;
  CHECK(n == (ssize_t)strlen(bytes) && !memcmp(got, bytes, n), "read %zd of %zu unread bytes: %s", n, strlen(bytes),
        strerror(errno));
  errno = 0;
  n = recv(fd, got, sizeof got, MSG_DONTWAIT);
  CHECK(n == (error ? -1 : 0) && errno == error, "then %zd (%s)", n, strerror(errno));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int sockets[2][13], ports[2][13], rounds = 0, go[2];
  for (int round = 0; round < 2; round++) {
    memset(&at, 0, sizeof at);
    family = round ? AF_INET6 : AF_INET, at.ss_family = family,
    length = round ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (round) ((struct sockaddr_in6 *)&at)->sin6_addr = in6addr_loopback;
    else ((struct sockaddr_in *)&at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = new_socket();
    if (listener < 0 || bind(listener, (void *)&at, length)) continue; /* no IPv6 here */
    MUST(!listen(listener, 8) && !getsockname(listener, (void *)&at, &length));
    int *s = sockets[rounds++];
    for (int i = 0; i < 4; i++) s[i] = given_up(i & 1, i & 2 ? "left" : "", 0);
    for (int i = 4; i < 8; i++) s[i] = given_up(i & 1, i & 2 ? "left" : "", 1);
    s[8] = refused(0), s[9] = refused(1), s[10] = former(0, 1), s[11] = former(1, 1), s[12] = former(0, 0);
    for (int i = 10; i < 13; i++) ports[s == sockets[1]][i] = port_of(s[i]);
    close(listener);
  }
  MUST(rounds && !pipe(go));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) { /* has what the parent leaves */
    char byte;
    MUST(read(go[0], &byte, 1) == 1);
    for (int i = 0; i < rounds; i++) tells(sockets[i][0], ECONNRESET), tells(sockets[i][4], EPIPE);
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < rounds; i++)
      for (int k = 0; k < 10; k++) {
        struct pollfd one = {sockets[i][k], POLLIN, 0};
        CHECK(poll(&one, 1, 0) == 1 && (one.revents & POLLERR), "socket %d has no error any more (%x)", k, one.revents);
      }
    pause_ms(2);
  }
  MUST(write(go[1], "x", 1) == 1);
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child's status is %x", status);
  for (int i = 0; i < rounds; i++) {
    int *s = sockets[i];
    reads(s[1], "", ECONNRESET), reads(s[2], "left", ECONNRESET), tells(s[3], ECONNRESET), reads(s[3], "left", 0);
    reads(s[5], "", 0), tells(s[5], EPIPE), reads(s[6], "left", 0), tells(s[6], EPIPE);
    CHECK(send(s[7], "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE, "%s", strerror(errno));
    tells(s[8], ECONNREFUSED), tells(s[9], ECONNREFUSED);
    for (int k = 10; k < 13; k++) {
      int six = 0;
      socklen_t size = sizeof six;
      MUST(!getsockopt(s[k], SOL_SOCKET, SO_DOMAIN, &six, &size));
      family = six, length = six == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
      memset(&at, 0, sizeof at);
      at.ss_family = family;
      binds(s[k], ports[i][k]);
    }
  }
  return feature_pass();
}
