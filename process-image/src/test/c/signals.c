/* Signals: handlers, masks per thread, and pending ones with their payload, for the process and for one thread. */
#include "feature.h"

static _Atomic int handled, payload, sender;
static _Atomic bool wrong_thread;
static pid_t handler_tid;
static sigset_t thread_mask;

static void handler(int signum, siginfo_t *info, void *context) {
  handled++;
  payload = info->si_value.sival_int;
  sender = info->si_pid;
  if (syscall(SYS_gettid) != handler_tid) wrong_thread = true;
}

static bool same_set(const sigset_t *a, const sigset_t *b) {
  for (int s = 1; s <= SIGRTMAX; s++)
    if (s != 32 && s != 33 && sigismember(a, s) != sigismember(b, s)) return false;
  return true;
}

/* Blocks a set of its own and holds signals pending that were sent to this thread alone: one of them is what the
 * restore's own code ends with. */
static void *worker(void *argument) {
  sigset_t now;
  OK(pthread_sigmask(SIG_SETMASK, &thread_mask, NULL));
  CHECK(!pthread_kill(pthread_self(), SIGUSR2) && !pthread_kill(pthread_self(), SIGTRAP), "pthread_kill");
  *(_Atomic bool *)argument = true;
  while (!feature_over) {
    OK(pthread_sigmask(SIG_SETMASK, NULL, &now));
    CHECK(same_set(&now, &thread_mask), "the mask of the second thread changed");
    MUST(!sigpending(&now));
    CHECK(sigismember(&now, SIGUSR2), "the pending SIGUSR2 of the second thread is lost");
    CHECK(sigismember(&now, SIGTRAP), "the pending SIGTRAP of the second thread is lost");
    pause_ms(3);
  }
  siginfo_t info;
  sigset_t usr2;
  sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
  /* glibc turns SI_TKILL into SI_USER in sigtimedwait */
  CHECK(sigtimedwait(&usr2, &info, &(struct timespec){2, 0}) == SIGUSR2, "the thread's SIGUSR2 never came");
  CHECK(info.si_pid == getpid() && (info.si_code == SI_TKILL || info.si_code == SI_USER),
        "SIGUSR2 came from %d with code %d", info.si_pid, info.si_code);
  sigset_t trap;
  sigemptyset(&trap), sigaddset(&trap, SIGTRAP);
  CHECK(sigtimedwait(&trap, &info, &(struct timespec){2, 0}) == SIGTRAP && info.si_pid == getpid(),
        "the thread's SIGTRAP never came");
  CHECK(sigtimedwait(&trap, &info, &(struct timespec){0, 0}) == -1 && errno == EAGAIN, "SIGTRAP was doubled");
  return NULL;
}

static void check_actions(const struct sigaction *wanted) {
  struct sigaction now;
  MUST(!sigaction(SIGRTMIN + 1, NULL, &now));
  CHECK(now.sa_sigaction == handler && (now.sa_flags & SA_SIGINFO) && (now.sa_flags & SA_RESTART),
        "the action of SIGRTMIN+1 changed");
  CHECK(same_set(&now.sa_mask, &wanted->sa_mask), "the handler's mask changed");
  MUST(!sigaction(SIGTRAP, NULL, &now)); /* the restore's own code traps */
  CHECK(now.sa_sigaction == handler, "the action of SIGTRAP changed");
  MUST(!sigaction(SIGHUP, NULL, &now));
  CHECK(now.sa_handler == SIG_IGN, "SIGHUP is no longer ignored");
  MUST(!sigaction(SIGWINCH, NULL, &now));
  CHECK(now.sa_handler == SIG_DFL, "SIGWINCH is no longer default");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  handler_tid = feature_tid;
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&action.sa_mask), sigaddset(&action.sa_mask, SIGURG);
  MUST(!sigaction(SIGRTMIN + 1, &action, NULL) && !sigaction(SIGTRAP, &action, NULL));
  MUST(signal(SIGHUP, SIG_IGN) != SIG_ERR);
  sigset_t blocked;
  sigemptyset(&blocked), sigaddset(&blocked, SIGRTMIN + 2), sigaddset(&blocked, SIGUSR1);
  MUST(!sigprocmask(SIG_BLOCK, &blocked, NULL));
  sigfillset(&thread_mask);
  sigdelset(&thread_mask, SIGTERM), sigdelset(&thread_mask, SIGKILL), sigdelset(&thread_mask, SIGSTOP);
  sigdelset(&thread_mask, 32), sigdelset(&thread_mask, 33);
  _Atomic bool set = false;
  pthread_t thread = start_thread(worker, (void *)&set);
  while (!set) pause_ms(1);
  for (int i = 0; i < 3; i++) MUST(!sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 4000 + i}));
  MUST(!kill(getpid(), SIGUSR1));
  feature_ready();
  int sent = 0;
  while (!feature_finishing()) {
    MUST(!sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = ++sent}));
    /* the other thread blocks it, so it is delivered here before sigqueue returns (POSIX, kill()) */
    CHECK(handled == sent && payload == sent && sender == getpid(), "signal %d: handled %d, payload %d, sender %d",
          sent, handled, payload, sender);
    CHECK(!wrong_thread, "a handler ran in a thread that blocks the signal");
    check_actions(&action);
    sigset_t pending;
    MUST(!sigpending(&pending));
    CHECK(sigismember(&pending, SIGRTMIN + 2) && sigismember(&pending, SIGUSR1), "a pending signal is lost");
    pause_ms(3);
  }
  siginfo_t info;
  for (int i = 0; i < 3; i++) {
    sigset_t queued;
    sigemptyset(&queued), sigaddset(&queued, SIGRTMIN + 2);
    CHECK(sigtimedwait(&queued, &info, &(struct timespec){2, 0}) == SIGRTMIN + 2, "queued signal %d never came", i);
    CHECK(info.si_value.sival_int == 4000 + i && info.si_code == SI_QUEUE && info.si_pid == getpid(),
          "queued signal %d: value %d, code %d, pid %d", i, info.si_value.sival_int, info.si_code, info.si_pid);
  }
  CHECK(sigtimedwait(&blocked, &info, &(struct timespec){2, 0}) == SIGUSR1 && info.si_code == SI_USER,
        "SIGUSR1 never came");
  CHECK(sigtimedwait(&blocked, &info, &(struct timespec){0, 0}) == -1 && errno == EAGAIN, "signal %d was doubled",
        info.si_signo);
  join_thread(thread);
  return feature_pass();
}
