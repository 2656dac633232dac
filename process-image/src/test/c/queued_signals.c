/* Signals that wait, each thread's own and the process's: real-time ones in their order and with their values, others
 * once. */
#include "feature.h"
#include <sys/wait.h>

enum { THREADS = 3, QUEUED = 5 };
static sigset_t waiting;
static _Atomic int up;

/* Takes what waits for this thread: VALUE, VALUE + 1, ... of a real-time signal, and SIGUSR1 with VALUE once, however
 * often it was sent. */
static void take_own(int value) {
  sigset_t own;
  siginfo_t info;
  sigemptyset(&own), sigaddset(&own, SIGUSR1);
  CHECK(sigtimedwait(&own, &info, &(struct timespec){2, 0}) == SIGUSR1 && info.si_value.sival_int == value,
        "SIGUSR1 came with %d, not %d", info.si_value.sival_int, value);
  CHECK(sigtimedwait(&own, &info, &(struct timespec){0}) == -1 && errno == EAGAIN, "SIGUSR1 waits twice");
  sigemptyset(&own), sigaddset(&own, SIGRTMIN + 5), sigaddset(&own, SIGRTMIN + 6);
  for (int i = 0; i < QUEUED; i++) {
    CHECK(sigtimedwait(&own, &info, &(struct timespec){2, 0}) == SIGRTMIN + 5,
          "queued signal %d of a thread is not the lower one", i);
    CHECK(info.si_value.sival_int == value + i && info.si_code == SI_QUEUE && info.si_pid == getpid() &&
              info.si_uid == getuid(),
          "queued signal %d of a thread: value %d, code %d, from %d", i, info.si_value.sival_int, info.si_code,
          info.si_pid);
  }
  CHECK(sigtimedwait(&own, &info, &(struct timespec){2, 0}) == SIGRTMIN + 6 && info.si_value.sival_ptr == &waiting,
        "a pointer in a signal");
  CHECK(sigtimedwait(&own, &info, &(struct timespec){0}) == -1 && errno == EAGAIN, "signal %d of a thread was doubled",
        info.si_signo);
}

static void queue_own(int value) {
  pthread_t self = pthread_self();
  for (int i = 0; i < QUEUED; i++) {
    OK(pthread_sigqueue(self, SIGUSR1,
                        (union sigval){.sival_int = value + i})); /* a standard signal: only the first stays */
    OK(pthread_sigqueue(self, SIGRTMIN + 5, (union sigval){.sival_int = value + i}));
  }
  OK(pthread_sigqueue(self, SIGRTMIN + 6, (union sigval){.sival_ptr = &waiting}));
}

static void *worker(void *argument) {
  int value = (int)(intptr_t)argument;
  queue_own(value);
  up++;
  while (!feature_over) {
    sigset_t pending;
    MUST(!sigpending(&pending));
    CHECK(sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGRTMIN + 5) && sigismember(&pending, SIGRTMIN + 6),
          "a thread's signal does not wait any more");
    pause_ms(3);
  }
  take_own(value);
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  sigemptyset(&waiting), sigaddset(&waiting, SIGUSR1), sigaddset(&waiting, SIGUSR2), sigaddset(&waiting, SIGCHLD);
  for (int s = SIGRTMIN + 5; s <= SIGRTMIN + 8; s++) sigaddset(&waiting, s);
  MUST(!sigprocmask(SIG_BLOCK, &waiting, NULL));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(worker, (void *)(intptr_t)(1000 * (i + 1)));
  while (up < THREADS) pause_ms(1);
  for (int i = 0; i < QUEUED; i++) MUST(!sigqueue(getpid(), SIGRTMIN + 7 + i % 2, (union sigval){.sival_int = 50 + i}));
  MUST(!sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 8}) && !kill(getpid(), SIGUSR2));
  pid_t child = fork();
  if (!child) _exit(5);
  siginfo_t info;
  MUST(!waitid(P_PID, child, &info, WEXITED | WNOWAIT));
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  for (int i = 0; i < QUEUED; i++) {
    sigset_t queued;
    sigemptyset(&queued), sigaddset(&queued, SIGRTMIN + 7), sigaddset(&queued, SIGRTMIN + 8);
    int value =
        i < (QUEUED + 1) / 2 ? 50 + 2 * i : 51 + 2 * (i - (QUEUED + 1) / 2); /* those of the lower number first */
    CHECK(sigtimedwait(&queued, &info, &(struct timespec){2, 0}) == SIGRTMIN + 7 + value % 2 &&
              info.si_value.sival_int == value,
          "queued signal %d has %d, not %d", i, info.si_value.sival_int, value);
  }
  CHECK(sigtimedwait(&waiting, &info, &(struct timespec){2, 0}) == SIGUSR2 && info.si_code == SI_QUEUE &&
            info.si_value.sival_int == 8,
        "SIGUSR2 came as %d", info.si_code);
  CHECK(sigtimedwait(&waiting, &info, &(struct timespec){2, 0}) == SIGCHLD && info.si_pid == child &&
            info.si_code == CLD_EXITED && info.si_status == 5,
        "SIGCHLD tells of %d, %d", info.si_pid, info.si_status);
  CHECK(sigtimedwait(&waiting, &info, &(struct timespec){0}) == -1 && errno == EAGAIN, "signal %d was doubled",
        info.si_signo);
  return feature_pass();
}
