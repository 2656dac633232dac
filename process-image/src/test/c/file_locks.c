/* File locks of all three kinds. A capture that cannot keep them must refuse by name. */
#include "feature.h"
#include <sys/file.h>
#include <sys/wait.h>

/* What another process sees: 1 when FD's file is locked by someone else. */
static int locked_for_others(const char *name, bool whole) {
  pid_t child = fork();
  if (!child) {
    int fd = open(scratch(name), O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 50};
    int failed = whole ? flock(fd, LOCK_EX | LOCK_NB) : fcntl(fd, F_SETLK, &lock);
    _exit(failed ? 1 : 0);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int whole = open_scratch("whole", O_RDWR | O_CREAT), range = open_scratch("range", O_RDWR | O_CREAT),
      open_lock = open_scratch("open", O_RDWR | O_CREAT);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 50}, same = lock;
  MUST(!flock(whole, LOCK_EX) && !fcntl(range, F_SETLK, &lock) && !fcntl(open_lock, F_OFD_SETLK, &same));
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    CHECK(locked_for_others("whole", true), "the flock lock is lost");
    CHECK(locked_for_others("range", false), "the fcntl lock is lost");
    CHECK(locked_for_others("open", false), "the open-file-description lock is lost");
    pause_ms(20);
  }
  return feature_pass();
}
