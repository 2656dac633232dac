/* Open namespaces: all that the process is in, twice the same, in a child, too. */
#include "feature.h"
#include <sys/ioctl.h>
#include <sys/wait.h>

#define NS_GET_NSTYPE_ _IO(0xb7, 3)

static const char *const names[] = {"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"};
#define NAMES (int)(sizeof names / sizeof *names)

static int file[NAMES], type[NAMES], again;

static void link_of(const char *format, const void *what, char *text) {
  char path[64];
  snprintf(path, sizeof path, format, what);
  ssize_t length = readlink(path, text, 63);
  CHECK(length > 0, "readlink %s: %s", path, strerror(errno));
  text[length] = 0;
}

static void link_of_file(int fd, char *text) {
  char number[16];
  snprintf(number, sizeof number, "%d", fd);
  link_of("/proc/self/fd/%s", number, text);
}

/* A restart may come between two looks. */
static void look(void) {
  for (int i = 0; i < NAMES; i++) {
    if (file[i] < 0) continue;
    char before[64], own[64], after[64];
    do {
      link_of_file(file[i], before);
      link_of("/proc/self/ns/%s", names[i], own);
      link_of_file(file[i], after);
    } while (strcmp(before, after));
    CHECK(!strcmp(own, after), "%s is open, and the process is in %s", after, own);
    CHECK(ioctl(file[i], NS_GET_NSTYPE_) == type[i], "the type of %s is %x", own, ioctl(file[i], NS_GET_NSTYPE_));
  }
  CHECK(syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, file[3], again) == 0, "a duplicate is no more one");
  CHECK(fcntl(file[3], F_GETFD) == FD_CLOEXEC && !fcntl(again, F_GETFD), "flags of descriptors");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < NAMES; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    file[i] = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file[i] >= 0 || errno == ENOENT, "open %s: %s", path, strerror(errno));
    type[i] = file[i] < 0 ? 0 : ioctl(file[i], NS_GET_NSTYPE_);
  }
  CHECK(file[3] >= 0, "no network namespace");
  again = dup(file[3]);
  pid_t child = fork();
  if (!child) {
    feature_child();
    while (!feature_finishing()) {
      look();
      pause_ms(10);
    }
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    look();
    pause_ms(5);
  }
  int status = 0;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the child ended with %x", status);
  return feature_pass();
}
