/* Socket pairs of all three types keep queued bytes, message boundaries, flags, options and half-closed ends. */
#include "feature.h"
#include <poll.h>
#include <sys/socket.h>

static const char *const names[] = {"stream", "datagram", "seqpacket"};
static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
static const int sizes[] = {1, 700, 3, 2048, 64};
static int pairs[3][2];

static void queue_messages(int fd, uint64_t seed) {
  unsigned char buffer[2048];
  for (int m = 0; m < 5; m++) {
    fill_pattern(buffer, sizes[m], seed + m);
    MUST(send(fd, buffer, sizes[m], 0) == sizes[m]);
  }
}

static void take_messages(int fd, uint64_t seed, bool stream, const char *what) {
  unsigned char buffer[4096];
  for (int m = 0; m < 5; m++) {
    ssize_t got = recv(fd, buffer, stream ? (size_t)sizes[m] : sizeof buffer, stream ? MSG_WAITALL : 0);
    CHECK(got == sizes[m], "%s: message %d has %zd bytes, not %d", what, m, got, sizes[m]);
    check_pattern(buffer, got, seed + m, what);
  }
  struct pollfd poller = {fd, POLLIN, 0};
  CHECK(poll(&poller, 1, 0) == 0, "%s: more than was sent", what);
}

static void *echo(void *argument) {
  int fd = *(int *)argument;
  uint64_t word;
  for (;;) {
    ssize_t got = recv(fd, &word, 8, 0);
    CHECK(got == 8, "a blocked recv returned %zd", got);
    if (word == UINT64_MAX) return NULL;
    word = ~word;
    CHECK(send(fd, &word, 8, 0) == 8, "send");
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < 3; i++) {
    MUST(!socketpair(AF_UNIX, types[i] | (i == 1 ? SOCK_NONBLOCK | SOCK_CLOEXEC : 0), 0, pairs[i]));
    queue_messages(pairs[i][0], 10 * i + 1);
    queue_messages(pairs[i][1], 10 * i + 101);
  }
  struct timeval limit = {7, 0};
  int buffer_size = 100000, live[2], half[2];
  MUST(!setsockopt(pairs[0][0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
  MUST(!setsockopt(pairs[2][0], SOL_SOCKET, SO_SNDBUF, &buffer_size, sizeof buffer_size));
  MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, live));
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, half));
  MUST(write(half[0], "last words", 10) == 10 && !shutdown(half[0], SHUT_WR));
  pthread_t thread = start_thread(echo, &live[1]);
  feature_ready();
  uint64_t answer;
  for (uint64_t n = 0; !feature_finishing(); n++) {
    MUST(send(live[0], &n, 8, 0) == 8);
    CHECK(recv(live[0], &answer, 8, 0) == 8 && answer == ~n, "sent %lu, got %lu", n, answer);
    if (n % 8 == 0) pause_ms(2);
  }
  answer = UINT64_MAX;
  MUST(send(live[0], &answer, 8, 0) == 8);
  join_thread(thread);
  socklen_t length = sizeof limit;
  MUST(!getsockopt(pairs[0][0], SOL_SOCKET, SO_RCVTIMEO, &limit, &length));
  CHECK(limit.tv_sec == 7, "SO_RCVTIMEO became %ld s", (long)limit.tv_sec);
  length = sizeof buffer_size;
  MUST(!getsockopt(pairs[2][0], SOL_SOCKET, SO_SNDBUF, &buffer_size, &length));
  CHECK(buffer_size == 200000, "SO_SNDBUF became %d", buffer_size);
  check_flags(pairs[1][0], O_RDWR | O_NONBLOCK, FD_CLOEXEC, "datagram pair");
  check_flags(pairs[0][1], O_RDWR, 0, "stream pair");
  for (int i = 0; i < 3; i++) {
    take_messages(pairs[i][1], 10 * i + 1, i == 0, names[i]);
    take_messages(pairs[i][0], 10 * i + 101, i == 0, names[i]);
  }
  char words[20];
  CHECK(read(half[1], words, 20) == 10 && !memcmp(words, "last words", 10), "half-closed pair: last words");
  CHECK(read(half[1], words, 20) == 0, "half-closed pair: no end of stream");
  CHECK(write(half[1], "back", 4) == 4 && read(half[0], words, 20) == 4, "half-closed pair: the other direction");
  return feature_pass();
}
