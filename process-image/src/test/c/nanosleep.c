/* Sleeps: relative, absolute and long ones are never cut short and never fail with EINTR. */
#include "feature.h"

static void *relative(void *unused) {
  while (!feature_over) {
    int64_t start = now_ns();
    CHECK(!nanosleep(&(struct timespec){0, 300000000}, NULL), "nanosleep was interrupted");
    int64_t slept = now_ns() - start;
    CHECK(slept >= 300000000 && slept < FEATURE_JUMP_NS, "a sleep of 0.3 s took %lld ns", (long long)slept);
  }
  return unused;
}

static void *absolute(void *unused) {
  while (!feature_over) {
    int64_t until = now_ns() + 250000000;
    int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                                &(struct timespec){until / 1000000000, until % 1000000000}, NULL);
    CHECK(!error, "clock_nanosleep: %s", strerror(error));
    CHECK(now_ns() >= until && now_ns() - until < FEATURE_JUMP_NS, "an absolute sleep ended %lld ns off",
          (long long)(now_ns() - until));
  }
  return unused;
}

static void *forever(void *unused) {
  clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){100000, 0}, NULL);
  FAIL("a sleep of a day has ended");
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_t threads[] = {start_thread(relative, NULL), start_thread(absolute, NULL)};
  start_thread(forever, NULL);
  feature_ready();
  while (!feature_finishing()) CHECK(!usleep(20000), "usleep was interrupted");
  for (int i = 0; i < 2; i++) join_thread(threads[i]);
  return feature_pass();
}
