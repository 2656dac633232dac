/* Each resource limit (setrlimit(2)) is as small as what the process has already: neither a checkpoint nor a restart
 * needs more, and all are there afterwards. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/resource.h>

static const int LIMITS[] = {RLIMIT_AS,         RLIMIT_DATA,     RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_MEMLOCK,
                             RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE, RLIMIT_FSIZE, RLIMIT_CPU,   RLIMIT_CORE,
                             RLIMIT_NICE,       RLIMIT_RTPRIO,   RLIMIT_RTTIME};
static struct rlimit chosen[sizeof LIMITS / sizeof *LIMITS];

static size_t used(const char *field) {
  char line[256];
  size_t kibibytes = 0;
  FILE *file = fopen("/proc/self/status", "re");
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) sscanf(line + strlen(field), "%zu", &kibibytes);
  fclose(file);
  return kibibytes * 1024;
}

static void check(void) {
  for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
    struct rlimit now;
    MUST(!getrlimit(LIMITS[i], &now));
    CHECK(now.rlim_cur == chosen[i].rlim_cur && now.rlim_max == chosen[i].rlim_max,
          "limit %d was %lu, %lu, is %lu, %lu", LIMITS[i], chosen[i].rlim_cur, chosen[i].rlim_max, now.rlim_cur,
          now.rlim_max);
  }
}

static void *thread(void *unused) {
  while (!feature_over) pause_ms(5);
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
  timer_t timers[3];
  for (int i = 0; i < 3; i++) MUST(!timer_create(CLOCK_MONOTONIC, &event, &timers[i]));
  char *locked = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool may_lock = locked != MAP_FAILED && !mlock(locked, 16384);
  pthread_t other = start_thread(thread, NULL);
  feature_ready(); /* no file is made any more below the limits */
  char *block = malloc(1 << 20);
  fill_pattern(block, 1 << 20, 7);
  size_t space = used("VmSize:"), data = used("VmData:"), stack = used("VmStk:");
  for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
    struct rlimit *limit = &chosen[i];
    MUST(!getrlimit(LIMITS[i], limit));
    rlim_t wanted = LIMITS[i] == RLIMIT_AS           ? space
                    : LIMITS[i] == RLIMIT_DATA       ? data
                    : LIMITS[i] == RLIMIT_STACK      ? stack
                    : LIMITS[i] == RLIMIT_NPROC      ? 1
                    : LIMITS[i] == RLIMIT_SIGPENDING ? 3
                    : LIMITS[i] == RLIMIT_FSIZE      ? 1 << 16
                    : LIMITS[i] == RLIMIT_CPU        ? 1000
                    : LIMITS[i] == RLIMIT_RTTIME     ? 1000000
                                                     : 0;
    limit->rlim_cur = limit->rlim_max < wanted ? limit->rlim_max : wanted;
    limit->rlim_max = LIMITS[i] == RLIMIT_NPROC && geteuid()
                          ? limit->rlim_max
                          : limit->rlim_cur; /* a user's processes are counted together, those of this machine too */
    MUST(!setrlimit(LIMITS[i], limit));
  }
  while (!feature_finishing()) {
    check();
    CHECK(mmap(NULL, 16 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED,
          "there is address space left");
    check_pattern(block, 1 << 20, 7, "memory");
    pause_ms(10);
  }
  join_thread(other);
  struct itimerspec soon = {.it_value.tv_nsec = 1000000};
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGRTMIN + 3);
  MUST(!sigprocmask(SIG_BLOCK, &set, NULL) && !timer_settime(timers[2], 0, &soon, NULL));
  CHECK(sigwaitinfo(&set, NULL) == SIGRTMIN + 3, "no signal of a timer");
  CHECK(!may_lock || used("VmLck:") == 16384, "%zu bytes are locked", used("VmLck:"));
  return feature_pass();
}
