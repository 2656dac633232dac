/* Epoll descriptors that are only in flight in unix sockets: what they watch is in the same queue, in this process, in
 * one that has ended, or the socket itself; sent twice, and through a socket that two processes have. */
#include "in_flight.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

static void watch(int epoll, int fd, uint64_t data) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = data};
  MUST(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

static void check_ready(int epoll, unsigned count, uint64_t sum, const char *what) {
  struct epoll_event events[8];
  uint64_t found = 0;
  int n = epoll_wait(epoll, events, 8, 0);
  for (int i = 0; i < n; i++) found += events[i].data.u64;
  CHECK(n == (int)count && found == sum, "%s: %d events, %llu together", what, n, (unsigned long long)found);
}

static bool same_file(int a, int b) {
  return syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, a, b) == 0;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int plain[2], shared[2], itself[2];
  MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, plain) && !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, shared) &&
       !socketpair(AF_UNIX, SOCK_STREAM, 0, itself));
  int here = eventfd(0, EFD_NONBLOCK), gone = eventfd(1, EFD_NONBLOCK), closed = dup(here);
  int epoll = epoll_create1(0), quiet = epoll_create1(0);
  MUST(here >= 0 && gone >= 0 && closed >= 0 && epoll >= 0 && quiet >= 0);
  watch(epoll, here, 1), watch(epoll, gone, 10), watch(epoll, plain[1], 100), watch(epoll, closed, 1000);
  int two[2] = {epoll, gone};
  send_along(plain[0], "both", 4, two, 2, NULL);
  send_one(plain[0], "again", epoll);
  send_one(plain[0], "quiet", quiet);
  close(epoll), close(quiet), close(gone), close(closed);
  int own = epoll_create1(0);
  watch(own, itself[1], 5);
  send_one(itself[0], "own", own), close(own);
  pid_t child = fork();
  if (child == 0) { /* makes one, watches under numbers of its own, and ends */
    int other = dup2(here, 77), made = epoll_create1(0);
    watch(made, other, 3), watch(made, shared[1], 30);
    send_one(shared[0], "child", made);
    _exit(0);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child && status == 0);
  pid_t holder = fork(); /* has the sockets, too */
  if (holder == 0)
    while (!feature_over) pause();
  feature_ready();
  while (!feature_finishing()) pause_ms(2);
  Message got = expect(plain[1], "both", 2);
  check_ready(got.sent[0], 2, 110, "before anything happens here");
  uint64_t one = 1;
  CHECK(write(here, &one, 8) == 8, "an eventfd");
  check_ready(got.sent[0], 4, 1111, "all");
  CHECK(read(got.sent[1], &one, 8) == 8 && one == 1, "what was in flight, too");
  CHECK(same_file(got.sent[0], expect(plain[1], "again", 1).sent[0]), "sent twice, and not the same");
  int empty = expect(plain[1], "quiet", 1).sent[0];
  check_ready(got.sent[0], 2, 1001, "when the queue is empty");
  check_ready(empty, 0, 0, "one that watches nothing"), watch(empty, here, 9), check_ready(empty, 1, 9, "a new watch");
  int late = expect(itself[1], "own", 1).sent[0];
  check_ready(late, 0, 0, "its own queue is empty");
  CHECK(send(itself[0], "x", 1, 0) == 1, "send");
  check_ready(late, 1, 5, "its own queue has something");
  int from_child = expect(shared[1], "child", 1).sent[0];
  check_ready(from_child, 1, 3, "a child's");
  CHECK(send(shared[0], "x", 1, 0) == 1, "send");
  check_ready(from_child, 2, 33, "a child's, of both");
  CHECK(!kill(holder, SIGKILL) && waitpid(holder, &status, 0) == holder, "the other holder");
  return feature_pass();
}
