/* Process groups whose leader has ended, and is waited for or not. */
#include "feature.h"
#include <sys/wait.h>

static pid_t start_child(pid_t group, bool lasts, int hold[2]) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (!pid) {
    feature_child();
    close(hold[1]);
    MUST(!setpgid(0, group));
    char byte;
    if (lasts) CHECK(read(hold[0], &byte, 1) == 0, "the parent says something");
    _exit(lasts ? 3 : 4);
  }
  setpgid(pid, group); /* so that it is done, whoever is first */
  return pid;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int hold[2], status;
  MUST(!pipe(hold));
  siginfo_t ended;
  pid_t gone = start_child(0, false, hold), orphan = start_child(gone, true, hold);
  MUST(!waitid(P_PID, gone, &ended, WEXITED | WNOWAIT) && waitpid(gone, &status, 0) == gone);
  pid_t zombie = start_child(0, false, hold), member = start_child(zombie, true, hold);
  MUST(!waitid(P_PID, zombie, &ended, WEXITED | WNOWAIT));
  feature_ready();
  while (!feature_finishing()) {
    CHECK(getpgid(orphan) == gone && getpgid(member) == zombie, "groups %d and %d became %d and %d", gone, zombie,
          getpgid(orphan), getpgid(member));
    pause_ms(2);
  }
  CHECK(waitpid(-zombie, &status, WNOHANG) == zombie && WEXITSTATUS(status) == 4,
        "the group's ended leader cannot be waited for");
  close(hold[1]);
  CHECK(waitpid(-gone, &status, 0) == orphan && WEXITSTATUS(status) == 3, "a member of the first group");
  CHECK(waitpid(-zombie, &status, 0) == member && WEXITSTATUS(status) == 3, "a member of the second group");
  CHECK(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
