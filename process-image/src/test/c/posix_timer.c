/* POSIX timers: ids, payloads, target threads, remaining time. */
#include "feature.h"

static _Atomic uint64_t ticks, thread_ticks;
static _Atomic bool wrong;
static _Atomic pid_t target;

static void on_tick(int signum, siginfo_t *info, void *context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_int != 1234) wrong = true;
  ticks++;
}

static void on_thread_tick(int signum, siginfo_t *info, void *context) {
  if (syscall(SYS_gettid) != target || info->si_value.sival_int != 77) wrong = true;
  thread_ticks++;
}

static void *worker(void *unused) {
  target = (pid_t)syscall(SYS_gettid);
  while (!feature_over) pause_ms(20);
  return unused;
}

static timer_t make(clockid_t clock, int notify, int signum, int value, pid_t thread) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = notify, .sigev_signo = signum, .sigev_value.sival_int = value};
  if (notify == SIGEV_THREAD_ID) event._sigev_un._tid = thread;
  MUST(!timer_create(clock, &event, &timer));
  return timer;
}

static void arm(timer_t timer, long first_ms, long interval_ms, int flags) {
  struct itimerspec when = {{interval_ms / 1000, interval_ms % 1000 * 1000000},
                            {first_ms / 1000, first_ms % 1000 * 1000000}};
  MUST(!timer_settime(timer, flags, &when, NULL));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART}, NULL));
  MUST(!sigaction(SIGRTMIN + 3,
                  &(struct sigaction){.sa_sigaction = on_thread_tick, .sa_flags = SA_SIGINFO | SA_RESTART}, NULL));
  pthread_t thread = start_thread(worker, NULL);
  while (!target) pause_ms(1);
  timer_t gone = make(CLOCK_MONOTONIC, SIGEV_NONE, 0, 0, 0); /* leaves a hole in the ids */
  timer_t periodic = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN, 1234, 0);
  MUST(!timer_delete(gone));
  timer_t directed = make(CLOCK_REALTIME, SIGEV_THREAD_ID, SIGRTMIN + 3, 77, target);
  timer_t distant = make(CLOCK_MONOTONIC, SIGEV_NONE, 0, 0, 0);
  timer_t idle = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN, 5, 0);
  arm(periodic, 10, 10, 0);
  arm(directed, 15, 15, 0);
  arm(distant, 1000000, 0, 0);
  int64_t start = now_ns();
  feature_ready();
  uint64_t seen = 0, thread_seen = 0;
  int64_t since = start, thread_since = start;
  while (!feature_finishing()) {
    pause_ms(5);
    CHECK(!wrong, "a timer's signal came with another payload or to another thread");
    if (ticks != seen) seen = ticks, since = now_ns();
    if (thread_ticks != thread_seen) thread_seen = thread_ticks, thread_since = now_ns();
    CHECK(now_ns() - since < FEATURE_JUMP_NS && now_ns() - thread_since < FEATURE_JUMP_NS,
          "a timer stopped after %lu and %lu ticks", seen, thread_seen);
    struct itimerspec now;
    MUST(!timer_gettime(periodic, &now));
    CHECK(now.it_interval.tv_nsec == 10000000, "the interval is %ld ns", now.it_interval.tv_nsec);
    MUST(!timer_gettime(distant, &now));
    int64_t left = now.it_value.tv_sec * 1000000000LL + now.it_value.tv_nsec,
            due = 1000000000000LL - (now_ns() - start);
    CHECK(left - due < 3000000000LL && due - left < 3000000000LL, "the distant timer has %lld ns left, not %lld",
          (long long)left, (long long)due);
    MUST(!timer_gettime(idle, &now));
    CHECK(!now.it_value.tv_sec && !now.it_value.tv_nsec, "a disarmed timer runs");
  }
  uint64_t base = ticks;
  for (int i = 0; i < 400 && ticks < base + 2; i++) pause_ms(10);
  CHECK(ticks >= base + 2, "the periodic timer does not tick any more");
  join_thread(thread);
  return feature_pass();
}
