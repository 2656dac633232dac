/* poll, ppoll and select: endless and limited waits end for their reason only. */
#include "feature.h"
#include <poll.h>
#include <sys/select.h>

static int pipes[3][2];

static void *endless_poll(void *unused) {
  struct pollfd poller = {pipes[0][0], POLLIN, 0};
  int ready = poll(&poller, 1, -1);
  CHECK(ready == 1 && poller.revents & POLLIN && feature_over, "an endless poll returned %d", ready);
  return unused;
}

static void *endless_select(void *unused) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipes[1][0], &set);
  int ready = select(pipes[1][0] + 1, &set, NULL, NULL, NULL);
  CHECK(ready == 1 && feature_over, "an endless select returned %d", ready);
  return unused;
}

static void *limited_poll(void *unused) {
  struct pollfd poller = {pipes[2][0], POLLIN, 0};
  while (!feature_over) {
    int64_t start = now_ns();
    int ready = poll(&poller, 1, 120);
    CHECK(ready == 0, "a limited poll returned %d", ready);
    CHECK(now_ns() - start >= 119000000, "a limited poll ended early");
  }
  return unused;
}

static void *limited_ppoll(void *unused) {
  struct pollfd poller = {pipes[2][0], POLLIN, 0};
  sigset_t none;
  sigfillset(&none);
  while (!feature_over) {
    int64_t start = now_ns();
    int ready = ppoll(&poller, 1, &(struct timespec){0, 110000000}, &none);
    CHECK(ready == 0, "a limited ppoll returned %d", ready);
    CHECK(now_ns() - start >= 110000000, "a limited ppoll ended early");
    sigset_t now;
    OK(pthread_sigmask(SIG_SETMASK, NULL, &now));
    CHECK(!sigismember(&now, SIGUSR1), "ppoll's mask stayed");
  }
  return unused;
}

static void *limited_select(void *unused) {
  while (!feature_over) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[2][0], &set);
    int64_t start = now_ns();
    int ready = select(pipes[2][0] + 1, &set, NULL, NULL, &(struct timeval){0, 90000});
    CHECK(ready == 0, "a limited select returned %d", ready);
    CHECK(now_ns() - start >= 90000000, "a limited select ended early");
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < 3; i++) MUST(!pipe(pipes[i]));
  void *(*bodies[])(void *) = {endless_poll, endless_select, limited_poll, limited_ppoll, limited_select};
  pthread_t threads[5];
  for (int i = 0; i < 5; i++) threads[i] = start_thread(bodies[i], NULL);
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  MUST(write(pipes[0][1], "x", 1) == 1 && write(pipes[1][1], "x", 1) == 1);
  for (int i = 0; i < 5; i++) join_thread(threads[i]);
  return feature_pass();
}
