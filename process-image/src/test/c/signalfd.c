/* signalfd: mask and pending signals with payload. A capture that cannot keep it must refuse by name. */
#include "feature.h"
#include <sys/signalfd.h>

static int take(int fd) {
  struct signalfd_siginfo info;
  CHECK(read(fd, &info, sizeof info) == sizeof info, "read of a signalfd");
  CHECK(info.ssi_signo == (uint32_t)SIGRTMIN + 4 && info.ssi_pid == (uint32_t)getpid(), "signal %u from %u",
        info.ssi_signo, info.ssi_pid);
  return info.ssi_int;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGRTMIN + 4);
  MUST(!sigprocmask(SIG_BLOCK, &set, NULL));
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  MUST(fd >= 0);
  feature_ready();
  int next = 0;
  MUST(!sigqueue(getpid(), SIGRTMIN + 4, (union sigval){.sival_int = next}));
  while (!feature_finishing()) { /* one is always pending */
    MUST(!sigqueue(getpid(), SIGRTMIN + 4, (union sigval){.sival_int = next + 1}));
    int got = take(fd);
    CHECK(got == next, "payload %d, not %d", got, next);
    next++;
    pause_ms(5);
  }
  CHECK(take(fd) == next, "the last payload is wrong");
  check_flags(fd, O_RDWR | O_NONBLOCK, FD_CLOEXEC, "signalfd");
  return feature_pass();
}
