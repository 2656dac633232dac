/* What prctl(2) keeps of a process, each seen and, where it can be, tried: the parent's death, orphans, core files, new
 * privileges. */
#include "feature.h"
#include <sys/prctl.h>
#include <sys/wait.h>

enum { SLACK = 123457 };
static pid_t ancestor; /* a subreaper: the orphan comes to it */

static void check(bool subreaper, int dumpable, bool no_new) {
  int is_subreaper = -1;
  CHECK(!prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) && is_subreaper == subreaper, "subreaper %d became %d", subreaper,
        is_subreaper);
  CHECK(prctl(PR_GET_DUMPABLE) == dumpable, "dumpable %d became %d", dumpable, prctl(PR_GET_DUMPABLE));
  CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == no_new, "no_new_privs %d became %d", no_new,
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  CHECK(prctl(PR_GET_TIMERSLACK) == SLACK, "the timer slack is %d", prctl(PR_GET_TIMERSLACK));
  CHECK(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == no_new, "PR_SET_THP_DISABLE became %d",
        prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
}

/* The grandchild that is told of its parent's death, and becomes an orphan by it. */
static void heir(int report) {
  feature_child();
  sigset_t death;
  sigemptyset(&death), sigaddset(&death, SIGUSR1);
  MUST(!sigprocmask(SIG_BLOCK, &death, NULL) && !prctl(PR_SET_PDEATHSIG, SIGUSR1) && write(report, "u", 1) == 1);
  for (siginfo_t info; sigtimedwait(&death, &info, &(struct timespec){0}) != SIGUSR1; pause_ms(5)) {
    int signal = 0;
    CHECK(errno == EAGAIN, "sigtimedwait");
    CHECK(!prctl(PR_GET_PDEATHSIG, &signal) && signal == SIGUSR1, "the parent's death would be told by signal %d",
          signal);
    check(false, 1, false);
  }
  _exit(getppid() == ancestor ? 21 : 22);
}

static void between(int hold, int report) {
  feature_child();
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) heir(report);
  MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) && write(report, "u", 1) == 1);
  MUST(!fcntl(hold, F_SETFL, O_NONBLOCK));
  char byte;
  while (read(hold, &byte, 1) != 0) check(false, 1, true), pause_ms(5);
  _exit(20);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int hold[2], report[2];
  ancestor = getpid();
  MUST(!prctl(PR_SET_TIMERSLACK, SLACK) && !pipe(hold) && !pipe(report));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    close(hold[1]);
    between(hold[0], report[1]);
  }
  char byte;
  MUST(read(report[0], &byte, 1) == 1 && read(report[0], &byte, 1) == 1);
  int dumpable = geteuid() ? 1 : 0; /* of an ordinary user's process without core files nobody may look at the memory */
  MUST(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !prctl(PR_SET_DUMPABLE, dumpable));
  feature_ready();
  while (!feature_finishing()) check(true, dumpable, false), pause_ms(5);
  MUST(!close(hold[1]));
  int status, heirs = 0;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 20, "the child ended with %#x", status);
  for (; waitpid(-1, &status, 0) > 0; heirs++)
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 21, "the grandchild ended with %#x", status);
  CHECK(heirs == 1, "%d orphans came to the subreaper", heirs);
  return feature_pass();
}
