/* Connections to unix listeners that were not accepted yet and have received something, or whose clients have closed
 * or ended: their bytes, messages and credentials are as they were, in their order; who has called is told. Root. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define LONG_MESSAGE 30000 /* of several pages */

static uid_t self_uid, user; /* who the children are: others, where it may make them so */

typedef struct {
  struct sockaddr_un to;
  socklen_t length;
  int type, fd;
} Server;

static Server listener(int type, const char *name) {
  Server server = {.to.sun_family = AF_UNIX, .type = type};
  server.length = sizeof(sa_family_t) + (socklen_t)snprintf(server.to.sun_path + 1, 90, "%s%d", name, getpid()) + 1;
  server.fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  MUST(server.fd >= 0 && !bind(server.fd, (struct sockaddr *)&server.to, server.length) && !listen(server.fd, 16));
  return server;
}

static int client(const Server *to) {
  int fd = socket(AF_UNIX, to->type | SOCK_NONBLOCK, 0);
  MUST(fd >= 0 && !connect(fd, (const struct sockaddr *)&to->to, to->length));
  return fd;
}

/* In a child, which ends, as another user: its number. */
static pid_t child_sends(const Server *to, const char *text) {
  pid_t child = fork();
  if (child == 0) {
    MUST(!setresgid(self_uid ? getgid() : user, -1, -1) && !setresuid(user, user, user));
    int fd = client(to);
    if (*text) MUST(send(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
    _exit(0);
  }
  int status;
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  return child;
}

/* Accepts, and asks who has called. */
static int accept_from(const Server *server, pid_t pid, uid_t uid, const char *what) {
  int fd = accept(server->fd, NULL, NULL), on = 1;
  struct ucred who = {0};
  socklen_t length = sizeof who;
  CHECK(fd >= 0 && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length), "%s: accept", what);
  CHECK(who.pid == pid && who.uid == uid, "%s: from %d, user %d", what, who.pid, who.uid);
  MUST(!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
  return fd;
}

static void expect(int fd, const char *want, size_t bytes, pid_t pid, uid_t uid, const char *what) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
  } along;
  char got[LONG_MESSAGE];
  struct msghdr message = {.msg_iov = &(struct iovec){got, bytes + !bytes},
                           .msg_iovlen = 1,
                           .msg_control = &along,
                           .msg_controllen = sizeof along};
  ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
  CHECK(n == (ssize_t)bytes && !memcmp(got, want, bytes), "%s: %zd bytes, not %zu", what, n, bytes);
  struct ucred who = {0};
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one))
    if (one->cmsg_type == SCM_CREDENTIALS) memcpy(&who, CMSG_DATA(one), sizeof who);
  CHECK(who.pid == pid && who.uid == uid, "%s: sent by %d, user %d", what, who.pid, who.uid);
}

static void check_ended(int fd, const char *what) {
  char byte;
  CHECK(recv(fd, &byte, 1, MSG_DONTWAIT) == 0, "%s: not at its end", what);
  CHECK(send(fd, "s", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE, "%s: not closed", what);
  close(fd);
}

static void *send_in_thread(void *fd) {
  MUST(send(*(int *)fd, "thread", 6, 0) == 6);
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  self_uid = getuid(), user = self_uid ? self_uid : 61017;
  Server stream = listener(SOCK_STREAM, "stream"), packets = listener(SOCK_SEQPACKET, "packets");
  static char text[LONG_MESSAGE];
  for (int i = 0; i < LONG_MESSAGE; i++) text[i] = (char)(i * 7 + i / 256);
  int open_client = client(&stream), quiet = client(&stream), shut = client(&stream);
  MUST(send(open_client, text, sizeof text, 0) == sizeof text && send(open_client, "two", 3, 0) == 3);
  MUST(send(shut, "last", 4, 0) == 4 && !shutdown(shut, SHUT_WR));
  pthread_t thread;
  MUST(!pthread_create(&thread, NULL, send_in_thread, &open_client) && !pthread_join(thread, NULL));
  int closed = client(&stream);
  MUST(send(closed, "gone", 4, 0) == 4 && !close(closed));
  close(client(&stream));
  pid_t child = child_sends(&stream, "child"), quiet_child = child_sends(&stream, "");
  int sequence = client(&packets);
  MUST(send(sequence, "one", 3, 0) == 3 && send(sequence, "", 0, 0) == 0 && send(sequence, text, 2000, 0) == 2000);
  pid_t packet_child = child_sends(&packets, "packet");
  int server_of_child = stream.fd;
  feature_ready();
  while (!feature_finishing()) {
    char byte;
    CHECK(recv(open_client, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "the client hears");
    pause_ms(2);
  }
  pid_t self = getpid();
  int fd = accept_from(&stream, self, self_uid, "an open one");
  expect(fd, text, sizeof text, self, self_uid, "long");
  char all[10];
  CHECK(recv(fd, all, sizeof all, MSG_DONTWAIT) == 9 && !memcmp(all, "twothread", 9), "bytes of two messages");
  CHECK(send(open_client, "more", 4, 0) == 4, "a client goes on");
  expect(fd, "more", 4, self, self_uid, "more");
  CHECK(send(fd, "s", 1, 0) == 1 && recv(open_client, all, 1, MSG_DONTWAIT) == 1, "to the client");
  fd = accept_from(&stream, self, self_uid, "a quiet one");
  CHECK(send(quiet, "q", 1, 0) == 1, "the quiet one sends");
  expect(fd, "q", 1, self, self_uid, "the quiet one");
  fd = accept_from(&stream, self, self_uid, "one that was shut");
  expect(fd, "last", 4, self, self_uid, "one that was shut");
  CHECK(recv(fd, all, 1, MSG_DONTWAIT) == 0 && send(fd, "s", 1, 0) == 1 && recv(shut, all, 1, 0) == 1, "half open");
  fd = accept_from(&stream, self, self_uid, "a closed one");
  expect(fd, "gone", 4, self, self_uid, "a closed one"), check_ended(fd, "a closed one");
  check_ended(accept_from(&stream, self, self_uid, "a quiet closed one"), "a quiet closed one");
  fd = accept_from(&stream, child, user, "a child's");
  expect(fd, "child", 5, child, user, "a child's"), check_ended(fd, "a child's");
  check_ended(accept_from(&stream, quiet_child, user, "a quiet child's"), "a quiet child's");
  CHECK(accept(server_of_child, NULL, NULL) < 0 && errno == EAGAIN, "more connections than clients");
  fd = accept_from(&packets, self, self_uid, "packets");
  expect(fd, "one", 3, self, self_uid, "a packet"), expect(fd, "", 0, self, self_uid, "an empty packet");
  expect(fd, text, 2000, self, self_uid, "a long packet");
  fd = accept_from(&packets, packet_child, user, "a child's packet");
  expect(fd, "packet", 6, packet_child, user, "a child's packet"), check_ended(fd, "a child's packet");
  return feature_pass();
}
