/* Connections to unix listeners that were not accepted yet: the clients are connected, and are accepted in their order,
 * behind those that were accepted; how many may wait stays as it was. */
#include "feature.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct {
  struct sockaddr_un to;
  socklen_t length;
} Name;

static int listener(int type, const char *path, int backlog, Name *name) {
  *name = (Name){.to.sun_family = AF_UNIX, .length = sizeof name->to};
  if (*path == '@')
    name->length = sizeof(sa_family_t) + (socklen_t)snprintf(name->to.sun_path + 1, 90, "%s%d", path, getpid()) + 1;
  else strncpy(name->to.sun_path, scratch(path), sizeof name->to.sun_path - 1);
  int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
  MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&name->to, name->length) && !listen(fd, backlog));
  return fd;
}

static int client(int type, const Name *name) {
  int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
  MUST(fd >= 0);
  return connect(fd, (const struct sockaddr *)&name->to, name->length) ? -1 : fd;
}

/* The next connection is that of this client. */
static void accept_from(int server, int from, const char *what) {
  int fd = accept(server, NULL, NULL);
  char got = 0;
  CHECK(fd >= 0, "%s: accept", what);
  CHECK(send(from, "c", 1, 0) == 1 && recv(fd, &got, 1, MSG_DONTWAIT) == 1 && got == 'c', "%s: to the server", what);
  CHECK(send(fd, "s", 1, 0) == 1 && recv(from, &got, 1, MSG_DONTWAIT) == 1 && got == 's', "%s: to the client", what);
  close(fd);
}

static void check_waits(int fd, const Name *to, const char *what) {
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN | POLLRDHUP};
  CHECK(poll(&poll_fd, 1, 0) == 0, "%s has events %#x", what, poll_fd.revents);
  Name peer = {.length = sizeof peer.to};
  CHECK(!getpeername(fd, (struct sockaddr *)&peer.to, &peer.length) && !memcmp(peer.to.sun_path, to->to.sun_path, 20),
        "%s: its peer's name", what);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  Name to_stream, to_sequence, to_short;
  int stream = listener(SOCK_STREAM, "stream", 8, &to_stream);
  int sequence = listener(SOCK_SEQPACKET, "@sequence", 8, &to_sequence);
  int accepted_client = client(SOCK_STREAM, &to_stream), accepted = accept(stream, NULL, NULL);
  MUST(accepted >= 0);
  int first = client(SOCK_STREAM, &to_stream), second = client(SOCK_STREAM, &to_stream),
      third = client(SOCK_STREAM, &to_stream);
  int packets = client(SOCK_SEQPACKET, &to_sequence);
  MUST(!shutdown(third, SHUT_RD));
  int few = listener(SOCK_STREAM, "few", 4, &to_short), of_few[3];
  for (int i = 0; i < 3; i++) of_few[i] = client(SOCK_STREAM, &to_short);
  MUST(!listen(few, 1));
  feature_ready();
  while (!feature_finishing()) {
    check_waits(first, &to_stream, "the first client"), check_waits(second, &to_stream, "the second client");
    check_waits(packets, &to_sequence, "the client of packets");
    CHECK(client(SOCK_STREAM, &to_short) < 0 && errno == EAGAIN, "more wait than the listener permits");
    pause_ms(2);
  }
  char got;
  CHECK(send(accepted, "a", 1, 0) == 1 && recv(accepted_client, &got, 1, MSG_DONTWAIT) == 1, "an accepted connection");
  accept_from(stream, first, "the first"), accept_from(stream, second, "the second");
  int last = accept(stream, NULL, NULL);
  CHECK(last >= 0 && send(third, "c", 1, 0) == 1 && recv(last, &got, 1, MSG_DONTWAIT) == 1, "the third");
  CHECK(send(last, "s", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE, "one that was shut hears");
  CHECK(accept(stream, NULL, NULL) < 0 && errno == EAGAIN, "more connections than clients");
  accept_from(sequence, packets, "the client of packets");
  for (int i = 0; i < 3; i++) accept_from(few, of_few[i], "one of few");
  int fresh = client(SOCK_STREAM, &to_stream);
  CHECK(fresh >= 0, "a new client");
  accept_from(stream, fresh, "a new client");
  return feature_pass();
}
