/* All limits of getrlimit(2), soft and hard, of a process and of its child. */
#include "feature.h"
#include <sys/resource.h>
#include <sys/wait.h>

/* A soft limit that does not stop what this program does. */
static rlim_t lower(int limit, rlim_t hard) {
  static const rlim_t values[RLIM_NLIMITS] = {
      [RLIMIT_CPU] = 7777,      [RLIMIT_FSIZE] = 1ul << 33, [RLIMIT_DATA] = 1ul << 34, [RLIMIT_STACK] = 6 << 20,
      [RLIMIT_CORE] = 4096,     [RLIMIT_RSS] = 1ul << 32,   [RLIMIT_NPROC] = 0,        [RLIMIT_NOFILE] = 200,
      [RLIMIT_MEMLOCK] = 65536, [RLIMIT_AS] = 1ul << 44,    [RLIMIT_LOCKS] = 99,       [RLIMIT_SIGPENDING] = 500,
      [RLIMIT_MSGQUEUE] = 4096, [RLIMIT_NICE] = 0,          [RLIMIT_RTPRIO] = 0,       [RLIMIT_RTTIME] = 1000000};
  rlim_t value = values[limit] ? values[limit] : hard; /* of NPROC the user's other processes count as well */
  return value < hard ? value : hard;
}

static void check(const struct rlimit *wanted) {
  for (int i = 0; i < RLIM_NLIMITS; i++) {
    struct rlimit now;
    MUST(!getrlimit(i, &now));
    CHECK(now.rlim_cur == wanted[i].rlim_cur && now.rlim_max == wanted[i].rlim_max, "limit %d is %lu/%lu, not %lu/%lu",
          i, now.rlim_cur, now.rlim_max, wanted[i].rlim_cur, wanted[i].rlim_max);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct rlimit limits[RLIM_NLIMITS];
  for (int i = 0; i < RLIM_NLIMITS; i++) {
    MUST(!getrlimit(i, &limits[i]));
    limits[i].rlim_cur = lower(i, limits[i].rlim_max);
    MUST(!setrlimit(i, &limits[i]));
  }
  int hold[2];
  MUST(!pipe(hold));
  pid_t child = fork();
  if (!child) {
    feature_child();
    limits[RLIMIT_CORE].rlim_max = limits[RLIMIT_CORE].rlim_cur, limits[RLIMIT_LOCKS].rlim_cur = 7;
    MUST(!setrlimit(RLIMIT_CORE, &limits[RLIMIT_CORE]) && !setrlimit(RLIMIT_LOCKS, &limits[RLIMIT_LOCKS]));
    close(hold[1]);
    MUST(fcntl(hold[0], F_SETFL, O_NONBLOCK) == 0);
    char byte;
    while (read(hold[0], &byte, 1) != 0) check(limits), pause_ms(5);
    check(limits);
    _exit(0);
  }
  close(hold[0]);
  feature_ready();
  while (!feature_finishing()) check(limits), pause_ms(5);
  MUST(!close(hold[1]));
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
