/* Halves of datagram pairs that were connected elsewhere, or have no peer any more: the other half still has them as
 * its peer. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static struct sockaddr_un to_server = {.sun_family = AF_UNIX};

static void say(int from, int to, const char *what) {
  char byte = 0;
  CHECK(send(from, "x", 1, MSG_DONTWAIT) == 1 && recv(to, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x', "%s", what);
}

/* Length of the name of its peer, 0: it has no peer. */
static size_t peer(int fd) {
  struct sockaddr_un got;
  socklen_t length = sizeof got;
  CHECK(!getpeername(fd, (struct sockaddr *)&got, &length) || errno == ENOTCONN, "getpeername");
  return errno == ENOTCONN ? 0 : length;
}

static void check(int left[2], int freed[2]) {
  errno = 0;
  CHECK(peer(left[0]) == sizeof(sa_family_t) + strlen(to_server.sun_path) + 1, "the half that went has another peer");
  CHECK(peer(left[1]) == sizeof(sa_family_t) && peer(freed[1]) == sizeof(sa_family_t),
        "a half that stayed has another peer");
  CHECK(peer(freed[0]) == 0, "the half that was freed has a peer");
  CHECK(send(left[1], "x", 1, MSG_DONTWAIT) < 0 && errno == EPERM,
        "the half that stayed is heard by the one that went");
  int error = -1;
  socklen_t length = sizeof error;
  CHECK(!getsockopt(freed[1], SOL_SOCKET, SO_ERROR, &error, &length) && !error, "an error %d waits in a socket", error);
  errno = 0;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  strcpy(to_server.sun_path, scratch("server"));
  int server = socket(AF_UNIX, SOCK_DGRAM, 0), left[2], freed[2];
  MUST(server >= 0 && !bind(server, (struct sockaddr *)&to_server, sizeof to_server));
  MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, left) && !socketpair(AF_UNIX, SOCK_DGRAM, 0, freed));
  MUST(!connect(left[0], (struct sockaddr *)&to_server, sizeof to_server));
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  MUST(send(freed[0], "b!", 2, 0) == 2 && !connect(freed[0], &none, sizeof none));
  MUST(send(freed[1], "f!", 2, 0) == 2);
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    feature_child();
    close(server);
    while (!feature_finishing()) check(left, freed), pause_ms(2);
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) check(left, freed), say(left[0], server, "the half that went"), pause_ms(2);
  char got[4];
  CHECK(recv(freed[0], got, 4, MSG_DONTWAIT) == 2 && got[0] == 'f', "what the half that was freed had in its queue");
  CHECK(recv(freed[1], got, 4, MSG_DONTWAIT) == 2 && got[0] == 'b', "what the half that stayed had in its queue");
  say(freed[1], freed[0], "to the half that was freed");
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
