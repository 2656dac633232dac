/* Children that were stopped by each of the signals that do so: wait(2) tells their parent by which, and SIGCONT lets
 * them go on. */
#include "feature.h"
#include <sys/wait.h>

static const int signals[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
#define CHILDREN (sizeof signals / sizeof *signals)

static char state(pid_t pid) {
  char path[64], text[512] = "", *end;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY);
  MUST(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && (end = strrchr(text, ')')) && !close(fd));
  return end[2];
}

/* The report stays, so that it can be asked for again. */
static int told(pid_t pid) {
  siginfo_t info = {0};
  MUST(!waitid(P_PID, pid, &info, WSTOPPED | WNOHANG | WNOWAIT));
  return info.si_pid == pid && info.si_code == CLD_STOPPED ? info.si_status : 0;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pid_t children[CHILDREN];
  for (size_t i = 0; i < CHILDREN; i++) {
    MUST((children[i] = fork()) >= 0);
    if (!children[i]) {
      MUST(!setpgid(0, 0));        /* not orphaned: its parent is in another group of the session */
      signal(signals[i], SIG_DFL); /* whoever started this may ignore them */
      raise(signals[i]);
      _exit(7);
    }
  }
  for (size_t i = 0; i < CHILDREN; i++)
    while (told(children[i]) != signals[i]) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    for (size_t i = 0; i < CHILDREN; i++) {
      CHECK(told(children[i]) == signals[i], "the child that signal %d stopped was stopped by %d", signals[i],
            told(children[i]));
      for (int round = 0; state(children[i]) != 'T' && round < 5000; round++)
        pause_ms(1); /* a checkpoint looks at it */
      CHECK(state(children[i]) == 'T', "the child that signal %d stopped is in state %c", signals[i],
            state(children[i]));
    }
    pause_ms(3);
  }
  for (size_t i = 0; i < CHILDREN; i++) {
    int status;
    MUST(!kill(children[i], SIGCONT) && waitpid(children[i], &status, 0) == children[i]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child that signal %d stopped has not gone on: 0x%x",
          signals[i], status);
  }
  return feature_pass();
}
