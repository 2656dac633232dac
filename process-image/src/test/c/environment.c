/* The environment and the arguments: what the program sees, what others see of it in /proc, and what a child gets. */
#include "feature.h"
#include <sys/wait.h>

extern char **environ;

static size_t slurp(const char *path, char *into, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0, "open %s", path);
  size_t bytes = 0;
  for (ssize_t got; (got = read(fd, into + bytes, room - bytes)) > 0;) bytes += got;
  close(fd);
  return bytes;
}

static void check_child(void) {
  int status;
  pid_t child = fork();
  if (!child) {
    execl("/bin/sh", "sh", "-c", "test \"$UDCKPT_FEATURE\" = 'of a later time' && test -z \"${UDCKPT_EMPTY-unset}\"",
          NULL);
    _exit(99);
  }
  CHECK(waitpid(child, &status, 0) == child && !status, "a child's environment is another one (status %#x)", status);
}

int main(int argc, char **argv) {
  static char first[1 << 17], arguments[4096], now[1 << 17];
  feature_start(argc, argv);
  MUST(!setenv("UDCKPT_FEATURE", "of an earlier time", 1) && !setenv("UDCKPT_FEATURE", "of a later time", 1) &&
       !setenv("UDCKPT_EMPTY", "", 1));
  argv[0][0] = '*'; /* as programs do that show in ps(1) what they are at */
  size_t bytes = slurp("/proc/self/environ", first, sizeof first),
         length = slurp("/proc/self/cmdline", arguments, sizeof arguments);
  int count = 0;
  while (environ[count]) count++;
  feature_ready();
  bool over = false;
  for (uint64_t n = 0; !over; n++) {
    over = feature_finishing();
    CHECK(!strcmp(getenv("UDCKPT_FEATURE"), "of a later time") && !*getenv("UDCKPT_EMPTY"), "UDCKPT_FEATURE is %s",
          getenv("UDCKPT_FEATURE"));
    CHECK(environ[count - 1] && !environ[count], "there are not %d variables any more", count);
    CHECK(slurp("/proc/self/environ", now, sizeof now) == bytes && !memcmp(first, now, bytes),
          "/proc/self/environ changed");
    CHECK(slurp("/proc/self/cmdline", now, sizeof now) == length && !memcmp(arguments, now, length) && now[0] == '*',
          "/proc/self/cmdline changed");
    if (n % 16 == 0 || over) check_child();
    pause_ms(5);
  }
  return feature_pass();
}
