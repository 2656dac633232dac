/* Handles of symbolic links that were removed: what they say, whose they are, that they have no name; under whose name
 * is another file by now, in a directory that was removed, too, of a child, and in flight. */
#include "in_flight.h"
#include <sys/wait.h>

static int removed(const char *name, const char *target) {
  MUST(!symlink(target, scratch(name)));
  int fd = open(scratch(name), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  MUST(fd >= 0 && !unlink(scratch(name)));
  return fd;
}

static void check_link(int fd, const char *target, const char *name) {
  char said[PATH_MAX], wanted[PATH_MAX], proc[64];
  ssize_t n = readlinkat(fd, "", said, sizeof said - 1);
  CHECK(n == (ssize_t)strlen(target) && !memcmp(said, target, (size_t)n), "%s says something else", name);
  struct stat stat;
  CHECK(!fstat(fd, &stat) && S_ISLNK(stat.st_mode) && !stat.st_nlink, "%s has mode %o, %lu names", name, stat.st_mode,
        (unsigned long)stat.st_nlink);
  CHECK(stat.st_uid == geteuid() && stat.st_gid == getegid(), "%s is of user %d", name, stat.st_uid);
  snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
  n = readlink(proc, said, sizeof said - 1);
  MUST(n > 0);
  said[n] = 0;
  snprintf(wanted, sizeof wanted, "%s (deleted)", scratch(name));
  CHECK(!strcmp(said, wanted), "%s is %s", proc, said);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  static char far[3000];
  memset(far, 'x', sizeof far - 1);
  int plain = removed("plain", "some/where"), long_one = removed("long", far), taken = removed("taken", "/"), pair[2];
  MUST(!close(open_scratch("taken", O_CREAT | O_WRONLY)));
  struct stat before, now;
  MUST(!fstat(plain, &before));
  int sent = removed("sent", "../sent");
  MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  send_one(pair[0], "link", sent), close(sent);
  pid_t child = fork();
  if (child == 0) {
    int own = removed("own", "of a child");
    MUST(!close(open_scratch("made", O_CREAT | O_WRONLY)));
    while (access(scratch("leave"), F_OK)) pause_ms(3);
    check_link(own, "of a child", "own"), check_link(plain, "some/where", "plain");
    _exit(0);
  }
  while (access(scratch("made"), F_OK)) pause_ms(2);
  feature_ready();
  while (!feature_finishing()) {
    check_link(plain, "some/where", "plain"), check_link(long_one, far, "long");
    pause_ms(2);
  }
  char said[8];
  CHECK(readlinkat(taken, "", said, sizeof said) == 1 && said[0] == '/', "one whose name is taken");
  CHECK(!stat(scratch("taken"), &now) && S_ISREG(now.st_mode), "the file that has a link's name");
  CHECK(!fstat(plain, &now) && now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
            now.st_mtim.tv_nsec == before.st_mtim.tv_nsec,
        "its time");
  check_flags(plain, O_PATH | O_NOFOLLOW, FD_CLOEXEC, "plain");
  check_link(expect(pair[1], "link", 1).sent[0], "../sent", "sent");
  MUST(!close(open_scratch("leave", O_CREAT | O_WRONLY)));
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child");
  return feature_pass();
}
