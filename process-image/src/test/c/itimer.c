/* Interval timers: all three keep their interval and go on ticking. */
#include "feature.h"
#include <sys/time.h>

static _Atomic uint64_t ticks[3];
static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF}, kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
static const int interval_us[] = {15000, 20000, 25000};

static void handler(int signum) {
  for (int i = 0; i < 3; i++)
    if (signals[i] == signum) ticks[i]++;
}

static void burn(void) {
  for (volatile int i = 0; i < 300000; i++) {
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < 3; i++) {
    MUST(!sigaction(signals[i], &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART}, NULL));
    struct timeval every = {0, interval_us[i]};
    MUST(!setitimer(kinds[i], &(struct itimerval){every, every}, NULL));
  }
  feature_ready();
  uint64_t seen[3] = {0};
  int64_t since[3] = {now_ns(), now_ns(), now_ns()};
  while (!feature_finishing()) {
    burn();
    for (int i = 0; i < 3; i++) {
      struct itimerval now;
      MUST(!getitimer(kinds[i], &now));
      CHECK(now.it_interval.tv_usec == interval_us[i] && !now.it_interval.tv_sec, "interval %d is %ld us", i,
            (long)now.it_interval.tv_usec);
      CHECK(now.it_value.tv_sec == 0 && (now.it_value.tv_usec || 1), "timer %d is %ld s ahead", i,
            (long)now.it_value.tv_sec);
      if (ticks[i] != seen[i]) seen[i] = ticks[i], since[i] = now_ns();
      CHECK(now_ns() - since[i] < FEATURE_JUMP_NS, "timer %d has stopped after %lu ticks", i, seen[i]);
    }
    struct timespec brief = {0, 2000000};
    nanosleep(&brief, NULL);
  }
  /* after the last restore each must tick again */
  for (int i = 0; i < 3; i++) {
    uint64_t base = ticks[i];
    int64_t start = now_ns();
    while (ticks[i] < base + 2) {
      burn();
      CHECK(now_ns() - start < FEATURE_JUMP_NS, "timer %d does not tick", i);
    }
  }
  return feature_pass();
}
