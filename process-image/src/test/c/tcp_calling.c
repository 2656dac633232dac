/* A call over TCP that nobody answers, since the queue of the one it calls is full: it is answered when there is room,
 * also where connect(2) waits for that in a thread. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

static struct sockaddr_in at = {.sin_family = AF_INET};
static int waiting;

static int new_socket(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  MUST(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
  return fd;
}

static void *connects(void *unused) {
  (void)unused;
  MUST(!connect(waiting, (void *)&at, sizeof at) && write(waiting, "x", 1) == 1);
  return NULL;
}

static int accepted(int listener, int *port) {
  struct pollfd one = {listener, POLLIN, 0};
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  CHECK(poll(&one, 1, 60000) == 1, "nobody calls");
  int fd = accept(listener, (void *)&from, &length);
  MUST(fd >= 0);
  *port = from.sin_port;
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  socklen_t length = sizeof at;
  int listener = new_socket(), first = new_socket(), calling = new_socket(), port;
  waiting = new_socket();
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  MUST(!bind(listener, (void *)&at, sizeof at) && !listen(listener, 0));
  MUST(!getsockname(listener, (void *)&at, &length) && !connect(first, (void *)&at, sizeof at));
  MUST(!fcntl(calling, F_SETFL, O_NONBLOCK));
  MUST(connect(calling, (void *)&at, sizeof at) && errno == EINPROGRESS);
  struct sockaddr_in own;
  MUST(!getsockname(calling, (void *)&own, &length));
  pthread_t thread;
  MUST(!pthread_create(&thread, NULL, connects, NULL));
  pause_ms(50);
  feature_ready();
  while (!feature_finishing()) {
    struct pollfd one = {calling, POLLOUT, 0};
    CHECK(!poll(&one, 1, 0), "somebody has answered: %x", one.revents);
    pause_ms(2);
  }
  MUST(accepted(listener, &port) >= 0);
  struct pollfd both[] = {{calling, POLLOUT, 0}, {listener, POLLIN, 0}};
  int error = 0, answered[2], count = 0;
  bool found = false;
  char byte;
  while (count < 2) {
    CHECK(poll(both, 2, 60000) > 0, "nobody answers or calls");
    if (both[0].revents) {
      length = sizeof error;
      MUST(!getsockopt(calling, SOL_SOCKET, SO_ERROR, &error, &length));
      /* the listener, whose queue had no room, may have forgotten that it has answered (tcp_syncookies) */
      CHECK(!error && write(calling, "x", 1) == 1, "%s", strerror(error));
      both[0].fd = -1;
    }
    if (both[1].revents) {
      answered[count++] = accepted(listener, &port);
      found |= port == own.sin_port;
    }
  }
  CHECK(found, "nobody called from the port %d", ntohs(own.sin_port));
  if (both[0].fd >= 0) MUST(write(calling, "x", 1) == 1);
  for (int i = 0; i < 2; i++) MUST(read(answered[i], &byte, 1) == 1);
  MUST(!pthread_join(thread, NULL));
  return feature_pass();
}
