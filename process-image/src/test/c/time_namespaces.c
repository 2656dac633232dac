/* Time namespaces of a job's own: a process whose children have other clocks, such a child with its own child, and
 * sleepers of both kinds. All clocks go on, each from where it was.
 */
#include "feature.h"
#include <sched.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

enum { AHEAD_S = 86400 };

static void write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd), "write %s", path);
}

static void make(void) {
  MUST(!unshare(CLONE_NEWTIME));
  write_text("/proc/self/timens_offsets", "monotonic 86400 0\nboottime 172800 0\n");
}

/* How much the boot clock is ahead of the other one; all offsets cancel out but those of this namespace. */
static int64_t between(void) {
  return clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
}

__attribute__((noreturn)) static void inside(bool deeper, int64_t outside) {
  feature_child();
  CHECK(clock_ns(CLOCK_MONOTONIC) > AHEAD_S * 1000000000LL, "it begins at another time");
  pid_t child = deeper ? fork() : 0;
  if (deeper && !child) inside(false, outside);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct itimerspec soon = {.it_value = {.tv_sec = 3600}};
  MUST(timer >= 0 && !timerfd_settime(timer, 0, &soon, NULL));
  int64_t end = now_ns() + 3600000000000;
  close(open(scratch(deeper ? "inside" : "deeper"), O_CREAT | O_WRONLY, 0600));
  while (!feature_finishing()) {
    int64_t ahead = between() - outside - AHEAD_S * 1000000000LL;
    CHECK(ahead > -1000000000 && ahead < 1000000000, "its clocks are %lld ns apart from what they were",
          (long long)ahead);
    struct itimerspec left;
    MUST(!timerfd_gettime(timer, &left));
    int64_t late = now_ns() + left.it_value.tv_sec * 1000000000LL + left.it_value.tv_nsec - end;
    CHECK(late > -20000000000 && late < 20000000000, "the timer ends %lld ns late", (long long)late);
    pause_ms(3);
  }
  int status = 0;
  if (child) CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int64_t outside = between();
  pid_t first = 0, second = 0;
  if (!geteuid()) {
    if (!(second = fork())) { /* only its children have them, and it has none */
      feature_child();
      make();
      close(open(scratch("waiting"), O_CREAT | O_WRONLY, 0600));
      while (!feature_finishing()) {
        CHECK(clock_ns(CLOCK_MONOTONIC) - feature_clock < 1000000000, "its own clock");
        pause_ms(3);
      }
      pid_t late = fork();
      if (!late) _exit(between() - outside > AHEAD_S * 999000000LL ? 0 : 1);
      int status;
      CHECK(waitpid(late, &status, 0) == late && !status, "a late child has other clocks: %#x", status);
      _exit(0);
    }
    make();
    if (!(first = fork())) inside(true, outside);
    while (access(scratch("waiting"), F_OK) || access(scratch("inside"), F_OK) || access(scratch("deeper"), F_OK))
      pause_ms(1);
  }
  feature_ready();
  int status;
  while (!feature_finishing()) {
    CHECK(!first || !waitpid(-1, &status, WNOHANG), "a child ended with %#x", status);
    int64_t ahead = between() - outside;
    CHECK(ahead > -1000000000 && ahead < 1000000000, "its own clocks are %lld ns apart", (long long)ahead);
    pause_ms(3);
  }
  if (first) CHECK(waitpid(first, &status, 0) == first && !status, "the first child ended with %#x", status);
  if (second) CHECK(waitpid(second, &status, 0) == second && !status, "the second child ended with %#x", status);
  return feature_pass();
}
