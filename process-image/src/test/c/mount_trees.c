/* Several mount namespaces: mounts that are shared within one and with another, that only receive, that are not to be
 * copied; one with another root directory (pivot_root(2)), in which a process has changed its own once more; files
 * that were opened before the namespace was entered. */
#include "feature.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

static char *top;
static int ready[2];

static bool is_there(const char *format, const char *where) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, format, where);
  return !access(path, F_OK);
}

static void make(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  MUST(fd >= 0 && write(fd, "text", 4) == 4 && !close(fd));
}

static int mount_of(int fd) {
  char path[64], line[128];
  int number = -1;
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "r");
  MUST(file);
  while (fgets(line, sizeof line, file)) sscanf(line, "mnt_id: %d", &number);
  MUST(!fclose(file));
  return number;
}

static void tell(void) {
  MUST(write(ready[1], "r", 1) == 1);
}

static void hear(void) {
  char byte;
  MUST(read(ready[0], &byte, 1) == 1);
}

/* Mounts something at its own place, and looks where else it appears. What another process does at the same time is
 * done elsewhere. */
static void look(const char *own) {
  char at[PATH_MAX];
  snprintf(at, sizeof at, "%s/one/%s", top, own);
  MUST(!mount("seen", at, "tmpfs", 0, NULL));
  strcat(at, "/mark");
  make(at);
  *strrchr(at, '/') = 0;
  for (const char *const *other = (const char *[]){"one", "two", "three", "four", NULL}; *other; other++) {
    char format[PATH_MAX];
    snprintf(format, sizeof format, "%s/%%s/%s/mark", top, own);
    CHECK(is_there(format, *other) == (**other != 'f'), "%s: what is mounted by %s is wrong there", *other, own);
  }
  MUST(!umount(at));
  snprintf(at, sizeof at, "%s/three/%s", top, own);
  MUST(!mount("received", at, "tmpfs", 0, NULL)); /* the other way nothing goes */
  strcat(at, "/mark");
  make(at);
  char format[PATH_MAX];
  snprintf(format, sizeof format, "%s/%%s/%s/mark", top, own);
  CHECK(!is_there(format, "one") && is_there(format, "three"), "what only receives gives, by %s", own);
  *strrchr(at, '/') = 0;
  MUST(!umount(at));
  snprintf(at, sizeof at, "%s/five", top);
  CHECK(*own != 'a' || (mount(at, at, NULL, MS_BIND, NULL) && errno == EINVAL), "what was unbindable is copied");
}

static void make_mounts(void) {
  MUST(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  MUST(!mount("shared", scratch("s/one"), "tmpfs", 0, NULL));
  MUST(!mkdir(scratch("s/one/a"), 0755) && !mkdir(scratch("s/one/b"), 0755));
  MUST(!mount(NULL, scratch("s/one"), NULL, MS_SHARED, NULL));
  MUST(!mount(scratch("s/one"), scratch("s/two"), NULL, MS_BIND, NULL));
  MUST(!mount(scratch("s/one"), scratch("s/three"), NULL, MS_BIND, NULL));
  MUST(!mount(NULL, scratch("s/three"), NULL, MS_SLAVE, NULL));
  MUST(!mount(scratch("s/one"), scratch("s/four"), NULL, MS_BIND, NULL));
  MUST(!mount(NULL, scratch("s/four"), NULL, MS_PRIVATE, NULL));
  MUST(!mount("five", scratch("s/five"), "tmpfs", 0, NULL));
  MUST(!mount(NULL, scratch("s/five"), NULL, MS_UNBINDABLE, NULL));
}

/* Its child has a copy of its mounts, which share with it. */
__attribute__((noreturn)) static void sharing(void) {
  make_mounts();
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) MUST(!unshare(CLONE_NEWNS));
  feature_child();
  tell();
  while (!feature_finishing()) {
    look(child ? "a" : "b");
    pause_ms(2);
  }
  int status = 0;
  CHECK(!child || (waitpid(child, &status, 0) == child && !status), "the one that shares ended with %#x", status);
  _exit(0);
}

/* In another root directory; what ends all is not to be seen there. */
__attribute__((noreturn)) static void pivoted(int end) {
  int before = open(scratch("kept"), O_RDWR);
  MUST(before >= 0 && !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  MUST(!mount(scratch("root"), scratch("root"), NULL, MS_BIND, NULL) && !chdir(scratch("root")));
  MUST(!mount("proc", "proc", "proc", 0, NULL) && !mount("t", "t", "tmpfs", 0, NULL));
  MUST(!syscall(SYS_pivot_root, ".", ".") && !umount2(".", MNT_DETACH));
  make("/t/file");
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) MUST(!mkdir("/t/deep", 0755) && !chroot("/t") && !chdir("/deep"));
  int after = open(child ? "/t/file" : "/file", O_RDWR);
  MUST(after >= 0);
  tell();
  char byte;
  MUST(fcntl(end, F_SETFL, O_NONBLOCK) >= 0);
  while (read(end, &byte, 1)) {
    CHECK(is_there("%s", child ? "/t/file" : "/file") && !is_there("%s", "/etc") && !is_there("%s", "/tmp"),
          "another root directory");
    CHECK(pread(before, &byte, 1, 0) == 1 && byte == 'k' && pread(after, &byte, 1, 0) == 1 && byte == 't', "files");
    if (child) CHECK(mount_of(before) != mount_of(after), "both files are on one mount");
    pause_ms(2);
  }
  int status = 0;
  CHECK(!child || (waitpid(child, &status, 0) == child && !status), "the one below ended with %#x", status);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (const char *const *path =
           (const char *[]){"s", "s/one", "s/two", "s/three", "s/four", "s/five", "root", "root/proc", "root/t", NULL};
       *path; path++)
    MUST(!mkdir(scratch(*path), 0755));
  top = strdup(scratch("s"));
  int kept = open(scratch("kept"), O_WRONLY | O_CREAT, 0644), ends[2];
  MUST(write(kept, "k", 1) == 1 && !close(kept) && !pipe(ready) && !pipe(ends));
  pid_t children[2] = {0};
  for (int i = 0; i < 2 && !geteuid(); i++) {
    children[i] = fork();
    MUST(children[i] >= 0);
    if (!children[i]) {
      MUST(!close(ends[1]));
      if (i) pivoted(ends[0]);
      sharing();
    }
    hear(), hear();
  }
  feature_ready();
  int status = 0;
  while (!feature_finishing()) {
    for (int i = 0; i < 2; i++)
      CHECK(!children[i] || !waitpid(children[i], &status, WNOHANG), "a child ended with %#x", status);
    CHECK(!is_there("%s/one/a", top), "what is mounted in a namespace is seen elsewhere");
    pause_ms(2);
  }
  MUST(!close(ends[1]));
  for (int i = 0; i < 2 && children[0]; i++)
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "a child ended with %#x", status);
  return feature_pass();
}
