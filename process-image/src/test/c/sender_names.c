/* Datagrams that wait in unix sockets tell the names of their senders (recvfrom(2)): of sockets that are there, with
 * other peers, gone, without a name; at a server, at one with a peer of its own, at an end of a pair. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

typedef struct {
  struct sockaddr_un to;
  socklen_t length;
} Name;

/* "@...": abstract; NULL: none. */
static int datagram(const char *path, Name *name) {
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  *name = (Name){.to.sun_family = AF_UNIX, .length = sizeof(sa_family_t)};
  MUST(fd >= 0);
  if (!path) return fd;
  if (*path == '@') name->length += 1 + (socklen_t)snprintf(name->to.sun_path + 1, 90, "%s%d", path, getpid());
  else name->length += 1 + (socklen_t)snprintf(name->to.sun_path, sizeof name->to.sun_path, "%s", scratch(path));
  MUST(!bind(fd, (struct sockaddr *)&name->to, name->length));
  return fd;
}

static void say(int from, const Name *to, const char *what) {
  MUST(sendto(from, what, strlen(what), MSG_DONTWAIT, (const struct sockaddr *)&to->to, to->length) ==
       (ssize_t)strlen(what));
}

static void expect(int fd, const char *what, const Name *from) {
  char got[64] = "";
  Name name = {.length = sizeof name.to};
  ssize_t n = recvfrom(fd, got, sizeof got - 1, MSG_DONTWAIT, (struct sockaddr *)&name.to, &name.length);
  CHECK(n >= 0 && !strcmp(got, what), "\"%s\" instead of \"%s\"", got, what);
  if (from->length == sizeof(sa_family_t))
    CHECK(name.length <= sizeof(sa_family_t), "%s: its sender has a name of %d bytes", what, (int)name.length);
  else
    CHECK(name.length == from->length && !memcmp(&name.to, &from->to, from->length), "%s: its sender is \"%s\"", what,
          name.length > sizeof(sa_family_t) ? name.to.sun_path + !name.to.sun_path[0] : "");
}

static void connect_to(int fd, const Name *to) {
  MUST(!connect(fd, (const struct sockaddr *)&to->to, to->length));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  Name to_server, to_path, to_abstract, to_gone, to_gone_abstract, nobody, to_busy, to_left, to_right, to_self, to_last,
      to_mourner;
  int server = datagram("server", &to_server), path = datagram("path", &to_path),
      abstract = datagram("@abstract", &to_abstract), gone = datagram("gone", &to_gone),
      gone_abstract = datagram("@gone", &to_gone_abstract), nameless = datagram(NULL, &nobody);
  say(path, &to_server, "path"), say(nameless, &to_server, "nameless"), say(abstract, &to_server, "abstract");
  say(gone, &to_server, "gone"), say(gone_abstract, &to_server, "gone abstract"), say(path, &to_server, "path again");
  close(gone), close(gone_abstract);
  MUST(!unlink(scratch("gone")));

  int busy = datagram("busy", &to_busy); /* it has heard others before it called one */
  say(path, &to_busy, "before");
  connect_to(busy, &to_server);
  int left = datagram("left", &to_left), right = datagram("@right", &to_right);
  connect_to(left, &to_right), connect_to(right, &to_left);
  say(left, &to_right, "to the right"), say(right, &to_left, "to the left");
  say(left, &to_server, "from an end of a pair");
  int self = datagram("self", &to_self);
  connect_to(self, &to_self);
  say(self, &to_self, "to itself");
  int last = datagram("last", &to_last), mourner = datagram("mourner", &to_mourner);
  connect_to(mourner, &to_last), connect_to(last, &to_mourner);
  say(last, &to_mourner, "the last words");
  close(last);
  MUST(!unlink(scratch("last")));

  feature_ready();
  while (!feature_finishing()) pause_ms(2);

  expect(server, "path", &to_path), expect(server, "nameless", &nobody), expect(server, "abstract", &to_abstract);
  expect(server, "gone", &to_gone), expect(server, "gone abstract", &to_gone_abstract);
  expect(server, "path again", &to_path), expect(server, "from an end of a pair", &to_left);
  expect(busy, "before", &to_path);
  expect(right, "to the right", &to_left), expect(left, "to the left", &to_right);
  expect(self, "to itself", &to_self), expect(mourner, "the last words", &to_last);
  say(busy, &to_server, "new"), expect(server, "new", &to_busy);
  say(left, &to_right, "new"), expect(right, "new", &to_left);
  say(path, &to_server, "new"), expect(server, "new", &to_path);
  Name peer = {.length = sizeof peer.to};
  CHECK(getpeername(path, (struct sockaddr *)&peer.to, &peer.length) && errno == ENOTCONN, "a sender has a peer");
  CHECK(access(scratch("gone"), F_OK) && access(scratch("last"), F_OK), "a name that was removed is there again");
  return feature_pass();
}
