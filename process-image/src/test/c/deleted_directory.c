/* Directories that were removed: open, as a handle, as a working directory, one in another, one whose name is another
 * directory's by now; a child works in one of its own, and shares its parent's. */
#include "feature.h"
#include <sys/stat.h>
#include <sys/wait.h>

static struct stat of(int fd) {
  struct stat stat;
  MUST(!fstat(fd, &stat));
  return stat;
}

static bool same(struct stat a, struct stat b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whether PATH, from FD, is the directory of another descriptor. A restart between both looks changes the inode. */
static bool leads_to(int fd, const char *path, int other) {
  for (int look = 0; look < 3; look++) {
    struct stat stat;
    MUST(!fstatat(fd, path, &stat, AT_EMPTY_PATH));
    if (same(stat, of(other))) return true;
  }
  return false;
}

static void check_gone(const char *link, const char *name) {
  char said[PATH_MAX], wanted[PATH_MAX];
  ssize_t n = readlink(link, said, sizeof said - 1);
  MUST(n > 0);
  said[n] = 0;
  snprintf(wanted, sizeof wanted, "%s (deleted)", scratch(name));
  CHECK(!strcmp(said, wanted), "%s is %s", link, said);
}

static int opened(const char *name, int flags) {
  int fd = open(scratch(name), flags | O_DIRECTORY);
  MUST(fd >= 0);
  return fd;
}

static void check_empty(int fd) {
  CHECK(!of(fd).st_nlink, "a removed directory has a name");
  CHECK(mkdirat(fd, "new", 0700) && errno == ENOENT, "something can be made in a removed directory");
}

static void check_working_directory(const char *name) {
  char path[PATH_MAX];
  CHECK(!getcwd(path, sizeof path) && errno == ENOENT, "a removed working directory has a path");
  check_gone("/proc/self/cwd", name);
}

/* Until it is asked to end. */
static pid_t child(int outer) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (pid) return pid;
  MUST(!mkdir(scratch("below"), 0700) && !chdir(scratch("below")) && !rmdir(scratch("below")));
  MUST(close(open(scratch("entered"), O_CREAT | O_WRONLY, 0600)) == 0);
  while (access(scratch("leave"), F_OK)) pause_ms(3);
  check_working_directory("below");
  CHECK(!of(outer).st_nlink && chdir("..") == 0, "the child's directories");
  CHECK(same(of(opened("", O_RDONLY)), of(open(".", O_RDONLY))), "the parent of the child's working directory");
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("outer"), 0750) && !mkdir(scratch("outer/inner"), 0700) && !mkdir(scratch("taken"), 0700));
  MUST(!chmod(scratch("outer/inner"), 01531));
  int scratch_directory = opened("", O_RDONLY);
  int outer = opened("outer", O_RDONLY), inner = opened("outer/inner", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  int handle = opened("outer/inner", O_PATH), taken = opened("taken", O_RDONLY);
  int shared = dup(inner);
  struct timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 123456789}};
  MUST(!chdir(scratch("outer/inner")) && !rmdir(scratch("outer/inner")) && !rmdir(scratch("outer")));
  MUST(!futimens(inner, times) && !rmdir(scratch("taken")) && !mkdir(scratch("taken"), 0711));
  pid_t pid = child(outer);
  while (access(scratch("entered"), F_OK)) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    check_working_directory("outer/inner");
    check_empty(outer);
    check_empty(inner);
    check_empty(taken);
    CHECK(leads_to(inner, "", handle) && leads_to(inner, "", shared), "descriptors of one directory differ");
    CHECK(leads_to(AT_FDCWD, ".", inner), "the working directory is not the one that is open");
    CHECK(leads_to(inner, "..", outer), "the directory above is another one");
    CHECK(leads_to(outer, "..", scratch_directory), "the directory above that is another one");
    struct stat here;
    CHECK((of(inner).st_mode & 07777) == 01531 && (of(outer).st_mode & 07777) == 0750, "modes %o, %o",
          of(inner).st_mode, of(outer).st_mode);
    CHECK(of(inner).st_mtim.tv_sec == 1000000000 && of(inner).st_mtim.tv_nsec == 123456789, "the time of change");
    CHECK(fcntl(inner, F_GETFL) & O_NOFOLLOW && fcntl(handle, F_GETFL) & O_PATH, "flags");
    CHECK(fcntl(inner, F_GETFD) == FD_CLOEXEC && !fcntl(shared, F_GETFD), "close-on-exec");
    CHECK(!stat(scratch("taken"), &here) && (here.st_mode & 07777) == 0711 && !same(here, of(taken)),
          "the directory that has the name now");
    CHECK(access(scratch("outer"), F_OK) && errno == ENOENT, "a directory that was removed is there again");
    pause_ms(3);
  }
  MUST(close(open(scratch("leave"), O_CREAT | O_WRONLY, 0600)) == 0);
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
