/* Unix sockets keep their names, also those that accept(2) gave, and messages without a byte are messages. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un address(const char *name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  CHECK(strlen(scratch(name)) < sizeof to.sun_path, "the scratch directory's path is too long");
  strcpy(to.sun_path, scratch(name));
  return to;
}

static int bound(int type, const char *name) {
  struct sockaddr_un own = address(name);
  int fd = socket(AF_UNIX, type, 0);
  MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof own));
  return fd;
}

static void connect_to(int fd, const char *name) {
  struct sockaddr_un to = address(name);
  CHECK(!connect(fd, (struct sockaddr *)&to, sizeof to), "connect to %s", name);
}

static void check_name(int result, const struct sockaddr_un *got, socklen_t length, const char *name,
                       const char *what) {
  CHECK(!result && length > 2 && !strcmp(got->sun_path, scratch(name)), "%s: the name is \"%s\", not that of %s", what,
        length > 2 ? got->sun_path : "", name);
}

static void check_names(int fd, const char *own, const char *peer, const char *what) {
  struct sockaddr_un got;
  socklen_t length = sizeof got;
  int result = getsockname(fd, (struct sockaddr *)&got, &length);
  if (own) check_name(result, &got, length, own, what);
  length = sizeof got;
  result = getpeername(fd, (struct sockaddr *)&got, &length);
  if (peer) check_name(result, &got, length, peer, what);
}

static void queue(int fd) {
  MUST(send(fd, "a", 1, 0) == 1 && send(fd, "", 0, 0) == 0 && send(fd, "bc", 2, 0) == 2);
}

static void take(int fd, const char *what) {
  char bytes[8];
  for (int n = 0; n < 3; n++) {
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT), want = n == 0 ? 1 : n == 1 ? 0 : 2;
    CHECK(got == want, "%s: message %d has %zd bytes, not %zd", what, n, got, want);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int listener = bound(SOCK_STREAM, "server"), client = bound(SOCK_STREAM, "client"), packets[2], datagrams[2];
  MUST(!listen(listener, 8));
  connect_to(client, "server");
  int accepted = accept(listener, NULL, NULL), first = bound(SOCK_DGRAM, "first"), second = bound(SOCK_DGRAM, "second");
  MUST(accepted >= 0);
  connect_to(first, "second"), connect_to(second, "first");
  MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets) && !socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams));
  queue(packets[0]), queue(datagrams[0]);
  feature_ready();
  while (!feature_finishing()) {
    check_names(client, "client", "server", "the client"),
        check_names(accepted, "server", "client", "the accepted socket");
    check_names(first, "first", "second", "a datagram socket"), check_names(listener, "server", NULL, "the listener");
    char byte;
    CHECK(write(client, "x", 1) == 1 && read(accepted, &byte, 1) == 1 && write(first, "y", 1) == 1 &&
              read(second, &byte, 1) == 1,
          "exchange");
    int brief = socket(AF_UNIX, SOCK_STREAM, 0);
    connect_to(brief, "server");
    int other = accept(listener, NULL, NULL);
    CHECK(other >= 0, "accept");
    close(brief), close(other);
    pause_ms(2);
  }
  take(packets[1], "packets"), take(datagrams[1], "datagrams");
  return feature_pass();
}
