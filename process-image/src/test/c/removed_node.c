/* Devices whose node was removed: memory devices and the terminal of a pair, opened through nodes of this program's
 * own, which are as those of the machine. Only root makes device nodes. */
#include "feature.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int open_removed(const char *name, int minor, int flags) {
  umask(0);
  if (mknod(scratch(name), S_IFCHR | 0666, makedev(1, minor))) {
    CHECK(errno == EPERM, "mknod %s", name);
    return -1;
  }
  int fd = open(scratch(name), flags);
  CHECK(fd >= 0 || errno == EACCES || errno == EPERM, "open %s", name); /* mounted without devices */
  MUST(!unlink(scratch(name)));
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int null = open_removed("null", 3, O_RDWR), zero = open_removed("zero", 5, O_RDONLY | O_CLOEXEC),
      random = open_removed("urandom", 9, O_RDONLY | O_NONBLOCK);
  feature_ready();
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
    }
    pause_ms(3);
  }
  return feature_pass();
}
