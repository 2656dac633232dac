/* Children that have died and were not waited for keep their pids and their statuses. */
#include "feature.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pid_t exited = fork();
  if (!exited) _exit(42);
  pid_t killed = fork();
  if (!killed) {
    while (true) pause();
  }
  MUST(!kill(killed, SIGTERM));
  siginfo_t info;
  MUST(!waitid(P_PID, exited, &info, WEXITED | WNOWAIT) && !waitid(P_PID, killed, &info, WEXITED | WNOWAIT));
  feature_ready();
  while (!feature_finishing()) {
    memset(&info, 0, sizeof info);
    CHECK(!waitid(P_PID, exited, &info, WEXITED | WNOWAIT | WNOHANG) && info.si_pid == exited, "the zombie %d is gone", exited);
    CHECK(info.si_code == CLD_EXITED && info.si_status == 42, "the zombie's status is %d", info.si_status);
    CHECK(!kill(killed, 0), "the pid %d of a zombie is free", killed);
    pause_ms(5);
  }
  int status;
  CHECK(waitpid(exited, &status, 0) == exited && WIFEXITED(status) && WEXITSTATUS(status) == 42, "exit status %#x", status);
  CHECK(waitpid(killed, &status, 0) == killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "kill status %#x", status);
  CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
