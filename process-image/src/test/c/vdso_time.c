/* Clocks through the vDSO agree with the system call at every moment and never go back. */
#include "feature.h"
#include <sched.h>
#include <sys/time.h>

static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW};
static const char *const names[] = {"CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "CLOCK_REALTIME", "CLOCK_TAI",
                                    "CLOCK_MONOTONIC_RAW"};

static int64_t by_call(clockid_t clock) {
  struct timespec t;
  MUST(!syscall(SYS_clock_gettime, clock, &t));
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *worker(void *unused) {
  int64_t last[5] = {0}, coarse_last = 0;
  for (uint64_t n = 0; !feature_over; n++)
    for (int c = 0; c < 5; c++) {
      int64_t first = clock_ns(clocks[c]), second = by_call(clocks[c]), third = clock_ns(clocks[c]);
      CHECK(first <= second && second <= third, "%s: vDSO %lld, call %lld, vDSO %lld", names[c], (long long)first,
            (long long)second, (long long)third);
      /* wall clocks may be set back by a few milliseconds */
      CHECK(first >= last[c] - (c == 2 || c == 3 ? 100000000 : 0), "%s went back by %lld ns", names[c],
            (long long)(last[c] - first));
      CHECK(!last[c] || c == 2 || c == 3 || first - last[c] < FEATURE_JUMP_NS, "%s jumped by %lld ns", names[c],
            (long long)(first - last[c]));
      last[c] = third;
      int64_t coarse = clock_ns(CLOCK_MONOTONIC_COARSE);
      CHECK(coarse >= coarse_last && coarse <= now_ns(), "the coarse clock is wrong");
      coarse_last = coarse;
      struct timeval day;
      MUST(!gettimeofday(&day, NULL));
      CHECK(llabs(day.tv_sec - (long long)time(NULL)) <= 1 && sched_getcpu() >= 0, "gettimeofday and time differ");
      for (int i = 0; i < 200; i++) (void)now_ns();
      for (volatile int i = 0; i < 30000; i++) {
      } /* and not always inside the vDSO */
    }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_t threads[] = {start_thread(worker, NULL), start_thread(worker, NULL)};
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int i = 0; i < 2; i++) join_thread(threads[i]);
  return feature_pass();
}
