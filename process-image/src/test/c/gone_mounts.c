/* Mounts, in a mount namespace of the job's own, of what has gone since: of a file that has lost its name, as some
 * container runtimes give a container its /etc/passwd, and of a file in /proc of a process that has ended. */
#include "own_user.h"
#include <sys/wait.h>

/* What an open and a read of it say. */
static int trouble(const char *path) {
  char byte;
  int fd = open(path, O_RDONLY);
  if (fd < 0) return errno;
  ssize_t got = read(fd, &byte, 1);
  int error = got < 0 ? errno : got > 0 ? 1000 : 0;
  MUST(!close(fd));
  return error;
}

static void expect(const char *path, const char *wanted) {
  char text[256] = "";
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0 && !strcmp(text, wanted), "%s has %s, not %s", path, text,
        wanted);
  MUST(!close(fd));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char over[PATH_MAX], process[PATH_MAX], file[PATH_MAX], source[64];
  snprintf(over, sizeof over, "%s", scratch("over"));
  snprintf(process, sizeof process, "%s", scratch("process"));
  snprintf(file, sizeof file, "%s", scratch("file"));
  write_file(over, "below");
  write_file(process, "below");
  write_file(file, "the file that is mounted");
  own_mounts();
  MUST(!mount(file, over, NULL, MS_BIND, NULL) && !unlink(file));
  pid_t child = fork();
  if (!child) {
    pause();
    _exit(0);
  }
  snprintf(source, sizeof source, "/proc/%d/mountinfo", child);
  MUST(!mount(source, process, NULL, MS_BIND, NULL));
  CHECK(trouble(process) == 1000, "%s cannot be read: %d", source, trouble(process));
  MUST(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
  int gone = trouble(process);
  CHECK(gone && gone != 1000, "%s can be read", source);
  char text[64] = "the file that is mounted";
  feature_ready();
  bool last = false;
  for (int round = 0; !last; round++) {
    last = feature_finishing();
    pause_ms(3);
    if (!last && round % 64) continue; /* while it is open it cannot be checkpointed */
    struct stat status;
    expect(over, text);
    CHECK(!stat(over, &status) && (status.st_mode & 0777) == 0640, "mode %o", status.st_mode);
    CHECK(trouble(process) == gone, "the file of a process that has ended says %d, and said %d", trouble(process),
          gone);
    snprintf(text, sizeof text, "round %d", round); /* what is written stays in it */
    int fd = open(over, O_WRONLY | O_TRUNC);
    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
  }
  return feature_pass();
}
