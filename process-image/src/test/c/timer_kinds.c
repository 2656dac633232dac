/* Timer descriptors keep wall-clock times, flags and expirations that were not read; a timer on a thread's CPU time its
 * thread, also one that signals the process, and one that signals another thread. */
#include "feature.h"
#include <sys/timerfd.h>

static _Atomic int signals;
static _Atomic bool armed;
static _Atomic int busy_thread;

static void count(int signum) {
  signals += signum > 0;
}

static void *busy(void *unused) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 2};
  event._sigev_un._tid = busy_thread = gettid();
  timer_t timer;
  struct itimerspec every = {{0, 10000000}, {0, 10000000}};
  MUST(!timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) && !timer_settime(timer, 0, &every, NULL));
  armed = true;
  while (!feature_over) {
    int before = signals;
    for (int64_t begun = now_ns(); signals == before;)
      CHECK(now_ns() - begun < 60000000000LL, "this thread's CPU timer does not expire any more");
    pause_ms(20);
  }
  return unused;
}

/* Which thread's CPU time a timer takes: one with 1,000 s left has less after some work of that thread. */
static int64_t left_of(timer_t timer) {
  struct itimerspec left;
  MUST(!timer_gettime(timer, &left));
  return left.it_value.tv_sec * 1000000000LL + left.it_value.tv_nsec;
}

static timer_t own_time(int notify, int thread) {
  struct sigevent event = {.sigev_notify = notify, .sigev_signo = SIGRTMIN + 4};
  event._sigev_un._tid = thread;
  timer_t timer;
  struct itimerspec long_time = {{0, 0}, {1000, 0}};
  MUST(!timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) && !timer_settime(timer, 0, &long_time, NULL));
  return timer;
}

static void check_own_time(timer_t timer, const char *what) {
  int64_t before = left_of(timer);
  for (volatile int i = 0; i < 1000; i++) continue;
  CHECK(left_of(timer) < before, "%s is not of this thread any more", what);
  CHECK(before > 900000000000LL, "%s counts another thread's time: %lld ns are left", what, (long long)before);
}

/* A timer has one signal in the queue at most, however long it is blocked and however often it is restored. */
static void check_one_signal(void) {
  sigset_t blocked;
  sigemptyset(&blocked), sigaddset(&blocked, SIGRTMIN + 3);
  siginfo_t info;
  struct timespec none = {0, 0};
  CHECK(
      sigtimedwait(&blocked, &info, &none) == SIGRTMIN + 3 && info.si_code == SI_TIMER && info.si_value.sival_int == 77,
      "the blocked signal of a timer is lost");
  CHECK(sigtimedwait(&blocked, &info, &none) == -1 && errno == EAGAIN, "a timer's signal is there twice");
}

static void arm_blocked(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value.sival_int = 77};
  struct itimerspec once_a_minute = {{60, 0}, {0, 1000000}};
  sigset_t blocked;
  timer_t timer;
  sigemptyset(&blocked), sigaddset(&blocked, SIGRTMIN + 3);
  OK(pthread_sigmask(SIG_BLOCK, &blocked, NULL));
  MUST(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &once_a_minute, NULL));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
  MUST(!sigaction(SIGRTMIN + 2, &action, NULL));
  int wall = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK), often = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct itimerspec at = {{0, 0}, {clock_ns(CLOCK_REALTIME) / 1000000000 + 100000, 0}},
                    every = {{0, 50000000}, {0, 50000000}}, left;
  MUST(wall >= 0 && often >= 0 && !timerfd_settime(wall, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL));
  arm_blocked(); /* before there are other threads, which inherit the mask */
  int64_t begun = now_ns();
  MUST(!timerfd_settime(often, 0, &every, NULL));
  pthread_t thread = start_thread(busy, NULL);
  while (!armed || now_ns() - begun < 300000000) pause_ms(1);
  timer_t own = own_time(SIGEV_SIGNAL, 0), others = own_time(SIGEV_THREAD_ID, busy_thread);
  feature_ready();
  while (!feature_finishing()) {
    check_own_time(own, "a timer of the process");
    check_own_time(others, "a timer that signals another thread");
    pause_ms(2);
  }
  MUST(!timerfd_gettime(wall, &left));
  int64_t due = at.it_value.tv_sec * 1000000000LL - clock_ns(CLOCK_REALTIME),
          is = left.it_value.tv_sec * 1000000000LL + left.it_value.tv_nsec;
  CHECK(is - due < 1000000000 && due - is < 1000000000, "a timer at a fixed time of day has %lld ns left, not %lld",
        (long long)is, (long long)due);
  uint64_t ticks = 0;
  int64_t most = (now_ns() - begun) / 50000000 + 1;
  CHECK(read(often, &ticks, 8) == 8 && ticks >= 6 && (int64_t)ticks <= most,
        "%lu expirations of at least 6 and at most %lld", ticks, (long long)most);
  char path[40], info[600] = "";
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", wall);
  int fd = open(path, O_RDONLY);
  CHECK(read(fd, info, sizeof info - 1) > 0 && strstr(info, "settime flags: 03"), "the timer's flags are lost: %s",
        info);
  check_one_signal();
  join_thread(thread);
  return feature_pass();
}
