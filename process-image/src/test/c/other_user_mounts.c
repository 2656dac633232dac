/* A process of root's job that has become another user, with a user and a mount namespace of its own, in which root has
 * no number: a tmpfs with directories that only he may enter, a file with two names and a link; and its child. An
 * ordinary user does the same as himself.
 */
#include "own_user.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { OTHER = 65534 };

static void check_mount(void) {
  struct stat file, directory;
  char text[16] = "", link[16] = "";
  int fd = open(scratch("m/closed/below/one"), O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text) == 4 && !strcmp(text, "text"), "the file has '%s'", text);
  MUST(!fstat(fd, &file) && !close(fd) && !stat(scratch("m/closed"), &directory));
  CHECK(file.st_nlink == 2 && (file.st_mode & 07777) == 0640 && file.st_uid == 0 && file.st_gid == 0,
        "the file has mode %o, %u names, user %u", file.st_mode, (unsigned)file.st_nlink, file.st_uid);
  CHECK((directory.st_mode & 07777) == 0700 && directory.st_uid == 0, "the directory has mode %o", directory.st_mode);
  CHECK(readlink(scratch("m/link"), link, sizeof link - 1) == 5 && !strcmp(link, "there"), "the link has %s", link);
  CHECK(getuid() == 0 && geteuid() == 0 && getgid() == 0, "user %u, group %u", getuid(), getgid());
}

__attribute__((noreturn)) static void other(void) {
  feature_child();
  if (!geteuid()) MUST(!setresgid(OTHER, OTHER, OTHER) && !setresuid(OTHER, OTHER, OTHER));
  own_user(CLONE_NEWNS, 0, 0);
  umask(0);
  MUST(!mount("m", scratch("m"), "tmpfs", 0, "mode=755"));
  MUST(!mkdir(scratch("m/closed"), 0700) && !mkdir(scratch("m/closed/below"), 0700));
  write_file(scratch("m/closed/below/one"), "text");
  MUST(!link(scratch("m/closed/below/one"), scratch("m/closed/two")) && !symlink("there", scratch("m/link")));
  pid_t child = fork();
  if (!child) feature_child();
  else write_file(scratch("set"), "up");
  while (!feature_finishing()) {
    check_mount();
    pause_ms(3);
  }
  int status = 0;
  CHECK(!child || (waitpid(child, &status, 0) == child && !status), "its child ended with %#x", status);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("m"), 0755) && !chmod(feature_scratch, 0777));
  pid_t child = fork();
  if (!child) other();
  while (access(scratch("set"), F_OK)) pause_ms(1);
  feature_ready();
  int status;
  while (!feature_finishing()) {
    CHECK(!waitpid(child, &status, WNOHANG), "the child ended with %#x", status);
    CHECK(access(scratch("m/closed"), F_OK), "a mount of another namespace is seen");
    pause_ms(3);
  }
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
