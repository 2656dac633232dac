/* timerfds: ticks go on and are not invented, remaining time, clocks and flags stay. */
#include "feature.h"
#include <poll.h>
#include <sys/timerfd.h>

static int make(clockid_t clock, int flags, long first_ms, long interval_ms) {
  int fd = timerfd_create(clock, flags);
  CHECK(fd >= 0, "timerfd_create");
  struct itimerspec when = {{interval_ms / 1000, interval_ms % 1000 * 1000000},
                            {first_ms / 1000, first_ms % 1000 * 1000000}};
  MUST(!timerfd_settime(fd, 0, &when, NULL));
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int64_t start = now_ns();
  int periodic = make(CLOCK_MONOTONIC, 0, 10, 10);
  int distant = make(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC, 1000000, 0);
  int wall = make(CLOCK_REALTIME, TFD_NONBLOCK, 7, 20);
  int expired = make(CLOCK_MONOTONIC, TFD_NONBLOCK, 1, 0); /* one shot, never read until the end */
  int disarmed = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK);
  pause_ms(5);
  feature_ready();
  uint64_t total = 0, wall_total = 0, ticks;
  while (!feature_finishing()) {
    struct pollfd poller = {periodic, POLLIN, 0};
    int ready = poll(&poller, 1, 4000);
    CHECK(ready == 1, "the periodic timer did not fire in 4 s (%d)", ready);
    CHECK(read(periodic, &ticks, 8) == 8 && ticks > 0, "read of a timerfd");
    total += ticks;
    int64_t elapsed = now_ns() - start;
    CHECK((int64_t)total * 10000000 <= elapsed + 100000000, "%lu ticks of 10 ms in %lld ns", total, (long long)elapsed);
    if (read(wall, &ticks, 8) == 8) wall_total += ticks;
    else CHECK(errno == EAGAIN, "read of the wall-clock timer");
    struct itimerspec now;
    MUST(!timerfd_gettime(periodic, &now));
    CHECK(now.it_interval.tv_nsec == 10000000, "the interval is %ld ns", now.it_interval.tv_nsec);
    MUST(!timerfd_gettime(distant, &now));
    int64_t left = now.it_value.tv_sec * 1000000000LL + now.it_value.tv_nsec, due = 1000000000000LL - elapsed;
    CHECK(left - due < 3000000000LL && due - left < 3000000000LL, "the distant timer has %lld ns left, not %lld",
          (long long)left, (long long)due);
    CHECK(read(disarmed, &ticks, 8) == -1 && errno == EAGAIN, "a disarmed timer fired");
  }
  check_flags(periodic, O_RDWR, 0, "periodic timerfd");
  check_flags(distant, O_RDWR | O_NONBLOCK, FD_CLOEXEC, "distant timerfd");
  CHECK(read(expired, &ticks, 8) == 8 && ticks == 1, "the expired timer's tick is lost");
  CHECK(wall_total > 0, "the wall-clock timer never fired");
  for (int i = 0; i < 300 && read(wall, &ticks, 8) != 8; i++) pause_ms(10);
  struct itimerspec now;
  MUST(!timerfd_gettime(wall, &now));
  CHECK(now.it_interval.tv_nsec == 20000000, "the wall-clock interval is %ld ns", now.it_interval.tv_nsec);
  return feature_pass();
}
