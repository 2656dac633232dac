/* Children that have died and were not waited for keep their pids and their statuses. */
#include "feature.h"
#include <sys/wait.h>

/* Opens a file of /proc of a dead child before the checkpoint, as a parent may before it waits for the child. */
static int file_of(pid_t pid, const char *name, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d%s", pid, name);
  int fd = open(path, flags | O_CLOEXEC);
  CHECK(fd >= 0, "open %s", path);
  return fd;
}

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
  int name = file_of(exited, "/comm", O_RDONLY), state = file_of(killed, "/stat", O_RDONLY),
      of_all = file_of(killed, "", O_RDONLY | O_DIRECTORY);
  feature_ready();
  while (!feature_finishing()) {
    memset(&info, 0, sizeof info);
    CHECK(!waitid(P_PID, exited, &info, WEXITED | WNOWAIT | WNOHANG) && info.si_pid == exited, "the zombie %d is gone",
          exited);
    CHECK(info.si_code == CLD_EXITED && info.si_status == 42, "the zombie's status is %d", info.si_status);
    CHECK(!kill(killed, 0), "the pid %d of a zombie is free", killed);
    pid_t told = 0;
    char text[256] = {0};
    CHECK(pread(name, text, sizeof text - 1, 0) > 0 && !strncmp(text, "zombie", 6), "the zombie's name is %s", text);
    CHECK(pread(state, text, sizeof text - 1, 0) > 0 && sscanf(text, "%d (zombie) Z", &told) == 1 && told == killed,
          "/proc/%d/stat is %s", killed, text);
    CHECK(!faccessat(of_all, "status", R_OK, 0), "nothing is in the zombie's directory");
    pause_ms(5);
  }
  int status;
  CHECK(waitpid(exited, &status, 0) == exited && WIFEXITED(status) && WEXITSTATUS(status) == 42, "exit status %#x",
        status);
  CHECK(waitpid(killed, &status, 0) == killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "kill status %#x",
        status);
  CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
