/* An orphan that sends each signal to its parent, as to init, which takes no notice. */
#include "feature.h"
#include <signal.h>
#include <sys/wait.h>

enum { LAST = 64 };

/* Never to another one than the shepherd. */
static bool has_shepherd(void) {
  char path[32], name[32] = "";
  snprintf(path, sizeof path, "/proc/%d/comm", getppid());
  int fd = open(path, O_RDONLY);
  bool read_it = fd >= 0 && read(fd, name, sizeof name - 1) > 0;
  if (fd >= 0) close(fd);
  return read_it && !strcmp(name, "udckpt-shepherd\n");
}

__attribute__((noreturn)) static void orphan(pid_t between) {
  feature_child();
  while (getppid() == between) pause_ms(1);
  CHECK(has_shepherd(), "its parent is %d", getppid());
  MUST(close(open(scratch("orphan"), O_WRONLY | O_CREAT, 0600)) == 0);
  for (int number = 1; !feature_finishing(); number = number % LAST + 1) {
    pid_t parent = getppid();
    if (number == SIGKILL || number == SIGSTOP || !has_shepherd()) continue;
    CHECK(!kill(parent, number), "signal %d to %d", number, parent);
    pause_ms(1);
    CHECK(!kill(parent, 0) && getppid() == parent, "its parent is gone after signal %d", number);
  }
  _exit(3);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pid_t between = fork();
  if (!between) {
    pid_t self = getpid();
    if (!fork()) orphan(self);
    _exit(0);
  }
  int status;
  MUST(waitpid(between, &status, 0) == between);
  while (access(scratch("orphan"), F_OK)) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) pause_ms(3);
  return feature_pass();
}
