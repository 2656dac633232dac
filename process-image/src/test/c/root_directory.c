/* Processes with another root directory than their parent: inside, outside of it with what they have open, and one more
 * below it. Files are found from there as before, and nothing else is. */
#include "feature.h"
#include <sys/wait.h>

static ino_t inode(const char *path) {
  struct stat stat;
  return fstatat(AT_FDCWD, path, &stat, 0) ? 0 : stat.st_ino;
}

static void make(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  MUST(!close(fd));
}

static void check_text(int fd, const char *path, const char *text) {
  char got[32] = "";
  fd = fd < 0 ? open(path, O_RDONLY) : fd;
  ssize_t bytes = fd < 0 ? -1 : pread(fd, got, sizeof got - 1, 0);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s'", path, got);
}

/* Until the last one of its parent's end of the pipe is closed: the file that ends all others is not to be seen. */
__attribute__((noreturn)) static void inside(int end, int outside, ino_t own, bool deeper) {
  pid_t child = deeper ? fork() : 0;
  MUST(child >= 0);
  if (deeper && !child) {
    MUST(!chroot("/below") && !chdir("/"));
    own = inode("/");
  }
  const char *name = deeper && !child ? "/deep" : "/file";
  int kept = open(name, O_RDWR);
  MUST(kept >= 0);
  char byte;
  MUST(fcntl(end, F_SETFL, O_NONBLOCK) >= 0);
  while (read(end, &byte, 1)) {
    CHECK(inode("/") == own && inode("/..") == own, "another root directory");
    CHECK(access("/proc/self", F_OK) && errno == ENOENT, "what is outside can be found");
    check_text(kept, name, "inside");
    int again = open(name, O_RDONLY);
    check_text(again, name, "inside");
    MUST(!close(again));
    check_text(outside, "what was opened before", "outside");
    pause_ms(2);
  }
  int status = 0;
  CHECK(!child || (waitpid(child, &status, 0) == child && !status), "one below ended with %#x", status);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int ends[2], status;
  char *paths[] = {strdup(scratch("root")), strdup(scratch("root/below"))};
  MUST(!pipe(ends) && !mkdir(paths[0], 0755) && !mkdir(paths[1], 0755));
  make(scratch("root/file"), "inside"), make(scratch("root/below/deep"), "inside"), make(scratch("file"), "outside");
  int outside = open(scratch("file"), O_RDONLY);
  ino_t own = inode(paths[0]);
  pid_t children[2] = {0};
  for (int i = 0; i < 2 && !geteuid(); i++) {
    children[i] = fork();
    MUST(children[i] >= 0);
    if (!children[i]) {
      MUST(!close(ends[1]) && !chroot(paths[0]));
      MUST(i || !chdir("/")); /* the other works outside */
      inside(ends[0], outside, own, i);
    }
  }
  feature_ready();
  while (!feature_finishing()) {
    CHECK(inode("/proc/self/root") == inode("/"), "the parent's root directory");
    for (int i = 0; i < 2; i++)
      CHECK(!children[i] || !waitpid(children[i], &status, WNOHANG), "a child ended with %#x", status);
    pause_ms(2);
  }
  MUST(!close(ends[1]));
  for (int i = 0; i < 2 && children[0]; i++)
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "a child ended with %#x", status);
  return feature_pass();
}
