/* Datagram sockets that have called connect(2) on their own: each has its own name, peer and queue; a server stays open
 * to everybody. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

typedef struct {
  struct sockaddr_un to;
  socklen_t length;
} Name;

static Name path_name(const char *path) {
  Name name = {.to = {.sun_family = AF_UNIX}, .length = sizeof name.to};
  CHECK(strlen(path) < sizeof name.to.sun_path, "%s is too long", path);
  strcpy(name.to.sun_path, path);
  return name;
}

static Name own_name(int fd) {
  Name name = {.length = sizeof name.to};
  MUST(!getsockname(fd, (struct sockaddr *)&name.to, &name.length));
  return name;
}

/* "": anonymous abstract name of the kernel's choice; NULL: none. */
static int datagram(const char *path) {
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  Name name = path_name(path ? path : "");
  MUST(fd >= 0 && (!path || !bind(fd, (struct sockaddr *)&name.to, *path ? name.length : sizeof(sa_family_t))));
  return fd;
}

static void connect_to(int fd, const Name *name) {
  CHECK(!connect(fd, (struct sockaddr *)&name->to, name->length), "connect");
}

static int client(const Name *server) {
  int fd = datagram(NULL);
  connect_to(fd, server);
  return fd;
}

static int own_error(int fd) {
  int error = -1;
  socklen_t length = sizeof error;
  MUST(!getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length));
  return error;
}

static void check_peer(int fd, const Name *want, const char *what) {
  Name got = {.length = sizeof got.to};
  int result = getpeername(fd, (struct sockaddr *)&got.to, &got.length);
  if (!want) {
    CHECK(result && errno == ENOTCONN, "%s has a peer", what);
    return;
  }
  CHECK(!result && got.length == want->length && !memcmp(&got.to, &want->to, want->length),
        "%s: its peer is \"%s\", not \"%s\"", what, got.length > 2 ? got.to.sun_path + !got.to.sun_path[0] : "",
        want->length > 2 ? want->to.sun_path + !want->to.sun_path[0] : "");
}

static void say(int from, int to, const char *what) {
  char byte = 0;
  CHECK(send(from, "x", 1, MSG_DONTWAIT) == 1, "%s: send", what);
  CHECK(recv(to, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x', "%s: receive", what);
}

static void check_new_client(int server, const Name *name, const char *what) {
  int fd = datagram(NULL);
  CHECK(!connect(fd, (struct sockaddr *)&name->to, name->length), "%s is deaf for a new client", what);
  say(fd, server, what);
  close(fd);
}

static void take(int fd, const char *want, const char *what) {
  char got[64];
  for (const char *at = want; *at; at++)
    CHECK(recv(fd, got, sizeof got, MSG_DONTWAIT) == 2 && got[0] == *at && got[1] == '!', "%s: datagram %c", what, *at);
  CHECK(recv(fd, got, sizeof got, MSG_DONTWAIT) < 0 && errno == EAGAIN, "%s: more than was sent", what);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int server = datagram(scratch("server"));
  Name to_server = own_name(server);
  int first = client(&to_server), second = client(&to_server), named = datagram(scratch("named")),
      automatic = datagram("");
  connect_to(named, &to_server), connect_to(automatic, &to_server);

  int hidden = datagram(""); /* a server with an abstract name */
  Name to_hidden = own_name(hidden);
  int of_hidden = client(&to_hidden);

  int unlinked = datagram(scratch("unlinked"));
  Name to_unlinked = own_name(unlinked);
  int of_unlinked = client(&to_unlinked);
  MUST(!unlink(scratch("unlinked")));

  /* A chain: who has a peer hears nobody else, and keeps what it heard before. */
  int middle = datagram(scratch("middle")), end = datagram(scratch("end"));
  Name to_middle = own_name(middle), to_end = own_name(end), chain[6];
  int links[6];
  int start = client(&to_middle);
  MUST(send(start, "s!", 2, 0) == 2);
  connect_to(middle, &to_end);
  links[5] = end, chain[5] = to_end;
  for (int i = 4; i >= 0; i--) { /* made from its beginning */
    char name[8];
    snprintf(name, sizeof name, "link%d", i);
    links[i] = datagram(scratch(name)), chain[i] = own_name(links[i]);
  }
  for (int i = 0; i < 5; i++) connect_to(links[i], &chain[i + 1]);

  int self = datagram(scratch("self")); /* its own peer */
  Name to_self = own_name(self);
  connect_to(self, &to_self);

  int mutual[2] = {datagram(scratch("left")), datagram(NULL)};
  Name to_left = own_name(mutual[0]);
  connect_to(mutual[1], &to_left); /* called by a nameless one, which it cannot call */

  int dead = datagram(scratch("dead")), of_dead, named_of_dead = datagram(scratch("mourner"));
  Name to_dead = own_name(dead), to_mourner = own_name(named_of_dead);
  of_dead = client(&to_dead);
  connect_to(named_of_dead, &to_dead);
  MUST(!unlink(scratch("dead")));
  MUST(sendto(dead, "d!", 2, 0, (struct sockaddr *)&to_mourner.to, to_mourner.length) == 2 &&
       recv(named_of_dead, (char[2]){0}, 2, 0) == 2);
  close(dead);

  int shut = datagram(scratch("shut"));
  Name to_shut = own_name(shut);
  MUST(!shutdown(shut, SHUT_RD));

  MUST(send(first, "1!", 2, 0) == 2 && send(second, "2!", 2, 0) == 2 && send(first, "3!", 2, 0) == 2);
  MUST(send(of_hidden, "h!", 2, 0) == 2 && send(of_unlinked, "u!", 2, 0) == 2);
  int loud = datagram(scratch("loud"));
  Name to_loud = own_name(loud);
  int of_loud = client(&to_loud);
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) { /* clients and a server of its own */
    feature_child();
    int own = client(&to_loud), other = datagram(scratch("other"));
    Name to_other = own_name(other);
    close(loud), close(of_loud), close(server);
    connect_to(first, &to_other); /* the parent's, too: it leaves what it was connected to */
    open_scratch("child", O_CREAT | O_RDWR);
    while (!feature_finishing()) {
      check_peer(own, &to_loud, "the child's client"), check_peer(first, &to_other, "a client that went"),
          check_new_client(other, &to_other, "the child's server");
      pause_ms(2);
    }
    _exit(0);
  }
  while (access(scratch("child"), F_OK)) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    check_peer(server, NULL, "the server"), check_peer(hidden, NULL, "the abstract server"),
        check_peer(unlinked, NULL, "the unlinked server");
    check_peer(second, &to_server, "the second client"), check_peer(named, &to_server, "the named client");
    check_peer(automatic, &to_server, "the client with a chosen name"),
        check_peer(of_hidden, &to_hidden, "the abstract server's client");
    check_peer(of_unlinked, &to_unlinked, "the unlinked server's client"),
        check_peer(start, &to_middle, "the chain's start");
    check_peer(middle, &to_end, "the chain's middle"), check_peer(self, &to_self, "its own peer");
    for (int i = 0; i < 5; i++) check_peer(links[i], &chain[i + 1], "a link");
    check_peer(of_dead, &to_dead, "a client of a server that has ended"),
        check_peer(named_of_dead, &to_dead, "the named client of a server that has ended");
    check_peer(mutual[0], NULL, "the one that was called");
    check_new_client(loud, &to_loud, "a server"), say(of_loud, loud, "a client");
    say(self, self, "its own peer");
    int brief = datagram(NULL);
    CHECK(connect(brief, (struct sockaddr *)&to_middle.to, to_middle.length) && errno == EPERM,
          "one with a peer of its own hears another one");
    connect_to(brief, &to_shut);
    CHECK(send(brief, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EPIPE, "one that was shut hears");
    close(brief);
    CHECK(!own_error(first) && !own_error(middle), "an error waits in a socket");
    pause_ms(2);
  }
  take(server, "123", "the server"), take(hidden, "h", "the abstract server"),
      take(unlinked, "u", "the unlinked server"), take(middle, "s", "the chain's middle");
  check_new_client(server, &to_server, "the server"), check_new_client(hidden, &to_hidden, "the abstract server"),
      check_new_client(end, &to_end, "the chain's end");
  say(named, server, "the named client"), say(automatic, server, "the client with a chosen name");
  say(of_hidden, hidden, "the abstract server's client"), say(of_unlinked, unlinked, "the unlinked server's client");
  say(middle, end, "the chain's middle"), say(mutual[1], mutual[0], "a nameless one");
  say(links[4], end, "the last link");
  for (int i = 0; i < 4; i++)
    CHECK(send(links[i], "x", 1, MSG_DONTWAIT) < 0 && errno == EPERM, "a link is heard by one with a peer of its own");
  CHECK(send(of_dead, "x", 1, MSG_DONTWAIT) < 0 && errno == ECONNREFUSED, "a server that has ended hears");
  CHECK(access(scratch("dead"), F_OK) && access(scratch("unlinked"), F_OK),
        "a name that had been removed is there again");
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
