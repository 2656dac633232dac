/* Devices whose node was removed: memory devices, opened through nodes of this program's own, which are as those of the
 * machine, or have other permissions and another owner, or another node's name now. Only root makes device nodes. */
#include "feature.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

enum { SOMEBODY = 33 };

static int open_removed(const char *name, int minor, int flags, mode_t mode) {
  umask(0);
  if (mknod(scratch(name), S_IFCHR | mode, makedev(1, minor))) {
    CHECK(errno == EPERM, "mknod %s", name);
    return -1;
  }
  if (mode != 0666) MUST(!chown(scratch(name), SOMEBODY, SOMEBODY + 1));
  int fd = open(scratch(name), flags);
  CHECK(fd >= 0 || errno == EACCES || errno == EPERM, "open %s", name); /* mounted without devices */
  MUST(!unlink(scratch(name)));
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int null = open_removed("null", 3, O_RDWR, 0666), zero = open_removed("zero", 5, O_RDONLY | O_CLOEXEC, 0666),
      random = open_removed("urandom", 9, O_RDONLY | O_NONBLOCK, 0666), full = open_removed("full", 7, O_WRONLY, 0640),
      odd = open_removed("odd", 5, O_RDWR | O_APPEND, 0), both = dup(odd);
  if (odd >= 0) close(open_scratch("odd", O_WRONLY | O_CREAT)); /* something else has the name */
  pid_t child = fork();                                         /* has them, too */
  if (!child) feature_child();
  if (child) feature_ready();
  while (!feature_finishing()) {
    struct stat stat;
    char buffer[8];
    if (null >= 0) {
      CHECK(write(null, "x", 1) == 1 && !read(null, buffer, 1), "the null device whose node was removed");
      CHECK(!fstat(null, &stat) && stat.st_mode == (S_IFCHR | 0666) && stat.st_rdev == makedev(1, 3),
            "it is another device");
      CHECK(read(zero, buffer, 8) == 8 && !buffer[0] && !buffer[7], "the zero device whose node was removed");
      CHECK(read(random, buffer, 8) == 8, "the random device whose node was removed");
      check_flags(random, O_RDONLY | O_NONBLOCK, 0, "random device"),
          check_flags(zero, O_RDONLY, FD_CLOEXEC, "zero device");
      CHECK(write(full, "x", 1) < 0 && errno == ENOSPC, "the full device");
      CHECK(!fstat(full, &stat) && stat.st_mode == (S_IFCHR | 0640) && stat.st_uid == SOMEBODY &&
                stat.st_gid == SOMEBODY + 1 && stat.st_rdev == makedev(1, 7),
            "mode %o, owner %u", stat.st_mode, stat.st_uid);
      CHECK(!fstat(both, &stat) && stat.st_mode == S_IFCHR && stat.st_rdev == makedev(1, 5), "mode %o", stat.st_mode);
      check_flags(both, O_RDWR | O_APPEND, 0, "odd node"), check_flags(full, O_WRONLY, 0, "full device");
    }
    pause_ms(3);
  }
  if (!child) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
