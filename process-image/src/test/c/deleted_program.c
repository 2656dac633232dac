/* Programs whose file has lost its name while they run, as when one is compiled again, and those that never had one: of
 * the process, and of a child that was started from memory. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef MFD_EXEC
#define MFD_EXEC 16U
#endif
#define ROLE "FEATURE_PROGRAM_ROLE"

static uint64_t sum(const char *path, const char *what) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0, "open %s of %s", path, what);
  static unsigned char bytes[1 << 16];
  uint64_t result = 14695981039346656037u, size = 0; /* FNV-1a (Fowler, Noll, Vo) */
  for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0; size += got)
    for (ssize_t i = 0; i < got; i++) result = (result ^ bytes[i]) * 1099511628211u;
  CHECK(size > 1000, "%s has %ju bytes", what, (uintmax_t)size);
  close(fd);
  return result;
}

static void copy_program(int to) {
  char bytes[4096];
  int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  MUST(from >= 0);
  for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;) MUST(write(to, bytes, got) == got);
  MUST(!fchmod(to, 0751) && !close(from));
}

static void of_disk(char **argv) {
  int fd = open(scratch("program"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  MUST(fd >= 0);
  copy_program(fd);
  MUST(!close(fd) && !setenv(ROLE, "disk", 1));
  execv(scratch("program"), argv);
  FAIL("execv");
}

static void of_memory(char **argv) {
  int fd = memfd_create("program", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("program", MFD_CLOEXEC); /* before Linux 6.3 */
  MUST(fd >= 0);
  copy_program(fd);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  int readable = open(name, O_RDONLY | O_CLOEXEC); /* one that is open for writing is not executed */
  MUST(readable >= 0 && !close(fd) && !setenv(ROLE, "memory", 1));
  fexecve(readable, argv, environ);
  FAIL("fexecve");
}

static void check(const char *role, uint64_t wanted) {
  char link[PATH_MAX];
  struct stat now;
  ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
  CHECK(length > 10 && !memcmp(link + length - 10, " (deleted)", 10), "the %s's program is %.*s", role, (int)length,
        link);
  MUST(!stat("/proc/self/exe", &now));
  CHECK(now.st_nlink == 0 && (now.st_mode & 07777) == 0751, "the %s's program has %ju names and mode %o", role,
        (uintmax_t)now.st_nlink, now.st_mode);
  CHECK(sum("/proc/self/exe", role) == wanted, "the %s's program is another one", role);
}

static void child(void) {
  uint64_t wanted = sum("/proc/self/exe", "child");
  int fd = open(scratch("child"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  MUST(fd >= 0 && !close(fd));
  while (!feature_finishing()) {
    check("child", wanted);
    pause_ms(3);
  }
  _exit(3);
}

static int parent(char **argv) {
  uint64_t wanted = sum("/proc/self/exe", "parent");
  MUST(!unlink(scratch("program")));
  pid_t other = fork();
  if (!other) of_memory(argv);
  while (access(scratch("child"), F_OK)) pause_ms(2);
  feature_ready();
  while (!feature_finishing()) {
    check("parent", wanted);
    pause_ms(3);
  }
  int status;
  CHECK(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 3, "the child ended with %#x", status);
  return feature_pass();
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  const char *role = getenv(ROLE);
  if (!role) of_disk(argv);
  if (!strcmp(role, "memory")) child();
  return parent(argv);
}
