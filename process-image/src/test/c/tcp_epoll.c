/* Many TCP connections that do not block, watched by epoll, and one stream whose writer never finds room enough. */
#include "feature.h"
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define LINKS 20

static int clients[LINKS], servers[LINKS];
static uint64_t sent[LINKS], heard[LINKS];

static void connect_all(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  MUST(!bind(listener, (void *)&address, length) && !listen(listener, LINKS) &&
       !getsockname(listener, (void *)&address, &length));
  for (int i = 0; i < LINKS; i++) {
    MUST((clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) >= 0);
    CHECK(!connect(clients[i], (void *)&address, length) || errno == EINPROGRESS, "connect");
    MUST((servers[i] = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0);
  }
  close(listener);
}

/* Numbers from 0 on, as bytes of a stream: byte n of it is n's lowest. */
static void *stream_out(void *argument) {
  int fd = *(int *)argument;
  static unsigned char bytes[1 << 16];
  for (uint64_t at = 0; !feature_over; at += 1 << 16) {
    for (unsigned i = 0; i < 1 << 16; i++) bytes[i] = (unsigned char)(at + i + (i >> 8));
    CHECK(send(fd, bytes, 1 << 16, MSG_NOSIGNAL) == 1 << 16 || feature_over, "stream: send");
  }
  shutdown(fd, SHUT_WR);
  return NULL;
}

static void *stream_in(void *argument) {
  int fd = *(int *)argument;
  static unsigned char bytes[1 << 16];
  ssize_t got;
  for (uint64_t n = 0; (got = recv(fd, bytes, 1 << 16, MSG_WAITALL)) > 0; n++) {
    CHECK(got == 1 << 16, "stream: a piece of %zd bytes", got);
    for (unsigned i = 0; i < 1 << 16; i++)
      CHECK(bytes[i] == (unsigned char)(i + (i >> 8)), "stream: byte %u of piece %lu is %02x", i, n, bytes[i]);
    if (!feature_over) pause_ms(3);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  connect_all();
  int epoll = epoll_create1(0), calm[2] = {clients[0], servers[0]};
  for (int i = 1; i < LINKS; i++) {
    struct epoll_event event = {.events = i % 2 ? EPOLLIN : EPOLLIN | EPOLLET, .data.u32 = i};
    MUST(!epoll_ctl(epoll, EPOLL_CTL_ADD, servers[i], &event));
  }
  int size = 200000;
  MUST(!setsockopt(calm[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
  MUST(!fcntl(calm[0], F_SETFL, 0) && !fcntl(calm[1], F_SETFL, 0));
  pthread_t out = start_thread(stream_out, &calm[0]), in = start_thread(stream_in, &calm[1]);
  feature_ready();
  uint64_t seed = 88172645463325252u, outstanding = 0;
  while (!feature_finishing() || outstanding) {
    int i = 1 + (int)(next_random(&seed) % (LINKS - 1));
    if (!feature_over) {
      CHECK(send(clients[i], &sent[i], 8, 0) == 8, "send");
      sent[i]++, outstanding++;
      if (outstanding % 3) continue; /* so that there are unread words on some */
    }
    struct epoll_event events[8];
    int ready = epoll_wait(epoll, events, 8, 5000);
    CHECK(ready > 0, "%lu words were sent, and epoll tells of none", outstanding);
    for (int e = 0; e < ready; e++) {
      uint64_t word;
      int s = (int)events[e].data.u32;
      while (recv(servers[s], &word, 8, 0) == 8) {
        CHECK(word == heard[s], "link %d: word %lu, not %lu", s, word, heard[s]);
        heard[s]++, outstanding--;
      }
      CHECK(errno == EAGAIN, "recv");
    }
    pause_ms(1);
  }
  join_thread(out), join_thread(in);
  return feature_pass();
}
