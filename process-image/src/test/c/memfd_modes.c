/* Modes and seals of memfds: those that may be executed, those that never may again (MFD_NOEXEC_SEAL), modes that were
 * changed, and a program that runs from one. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 16U
#endif
enum { EXEC_SEAL = 0x20, FILES = 5 };

static int make(const char *name, unsigned flags) {
  int fd = memfd_create(name, flags);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name, flags & ~(MFD_NOEXEC_SEAL | MFD_EXEC)); /* before Linux 6.3 */
  CHECK(fd >= 0, "memfd_create(%s, %#x)", name, flags);
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int files[FILES] = {make("exec", MFD_EXEC), make("noexec", MFD_NOEXEC_SEAL),
                      make("plain", MFD_ALLOW_SEALING | MFD_EXEC), make("closed", MFD_EXEC | MFD_CLOEXEC),
                      make("sealed", MFD_ALLOW_SEALING | MFD_EXEC)};
  static const char script[] = "#!/bin/sh\nexit 7\n";
  for (int i = 0; i < FILES; i++) MUST(write(files[i], script, sizeof script - 1) == sizeof script - 1);
  MUST(!fchmod(files[2], 0640) && !fchmod(files[3], 0500) &&
       !fcntl(files[4], F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK));
  mode_t modes[FILES];
  int seals[FILES];
  for (int i = 0; i < FILES; i++) {
    struct stat stat;
    MUST(!fstat(files[i], &stat));
    modes[i] = stat.st_mode;
    seals[i] = fcntl(files[i], F_GET_SEALS);
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < FILES; i++) {
      struct stat stat;
      char got[sizeof script] = "";
      CHECK(!fstat(files[i], &stat) && stat.st_mode == modes[i], "memfd %d has the mode %o, not %o", i, stat.st_mode,
            modes[i]);
      CHECK(fcntl(files[i], F_GET_SEALS) == seals[i], "memfd %d has the seals %#x, not %#x", i,
            fcntl(files[i], F_GET_SEALS), seals[i]);
      CHECK(pread(files[i], got, sizeof got, 0) == sizeof script - 1 && !strcmp(got, script), "the content of memfd %d",
            i);
    }
    if (seals[1] >= 0 && (seals[1] & EXEC_SEAL))
      CHECK(fchmod(files[1], 0700) && errno == EPERM, "a memfd that may never be executed can be");
    pause_ms(3);
  }
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", files[0]);
  CHECK(!access(path, X_OK), "a memfd that may be executed cannot be");
  pid_t child = fork(); /* its first descriptor is no writer's: it can be executed while it is open */
  MUST(child >= 0);
  if (!child) {
    char *arguments[] = {path, NULL};
    syscall(SYS_execveat, files[0], "", arguments, environ, AT_EMPTY_PATH);
    _exit(99);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a program in a memfd ended with %#x", status);
  return feature_pass();
}
