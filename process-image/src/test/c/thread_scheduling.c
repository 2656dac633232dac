/* Each thread's own nice value, scheduling policy, processors and I/O priority, those of its class included. */
#include "feature.h"
#include <sched.h>
#include <sys/resource.h>

enum {
  OWN = 1,
  CLASS = 13,
  REALTIME = 1 << CLASS,
  BEST_EFFORT = 2 << CLASS,
  IDLE = 3 << CLASS,
  SCHED_RESET = 0x40000000
};

typedef struct {
  int policy, priority, nice, io;
  bool bound;
} Wish;

static const Wish ordinary[] = {{SCHED_OTHER, 0, 0, BEST_EFFORT | 7, false},
                                {SCHED_BATCH, 0, 4, IDLE, true},
                                {SCHED_IDLE, 0, 7, BEST_EFFORT, false},
                                {SCHED_OTHER | SCHED_RESET, 0, 11, 0, true},
                                {SCHED_BATCH | SCHED_RESET, 0, 19, BEST_EFFORT | 2, false}};
static const Wish privileged[] = {{SCHED_FIFO, 3, 0, REALTIME | 5, false},
                                  {SCHED_RR, 2, 0, 0, true},
                                  {SCHED_RR | SCHED_RESET, 1, 0, BEST_EFFORT | 1, false},
                                  {SCHED_OTHER, 0, -5, REALTIME, true}};
static _Atomic int up;
static int base; /* the nice value that all of this begins with: nobody but root can have a lower one */

/* What it comes to: 19 is the highest. */
static int nice_of(const Wish *wish) {
  return wish->nice < 0 ? wish->nice : base + wish->nice < 19 ? base + wish->nice : 19;
}

static void set(const Wish *wish, cpu_set_t *processors) {
  MUST(!sched_getaffinity(0, sizeof *processors, processors));
  if (wish->bound) { /* to the last one */
    int last = 0;
    for (int c = 0; c < CPU_SETSIZE; c++) last = CPU_ISSET(c, processors) ? c : last;
    CPU_ZERO(processors);
    CPU_SET(last, processors);
    MUST(!sched_setaffinity(0, sizeof *processors, processors));
  }
  MUST(!syscall(SYS_setpriority, PRIO_PROCESS, 0, nice_of(wish)) &&
       (!wish->io || !syscall(SYS_ioprio_set, OWN, 0, wish->io)));
  MUST(!sched_setscheduler(0, wish->policy, &(struct sched_param){wish->priority}));
}

static void *worker(void *argument) {
  const Wish *wish = argument;
  cpu_set_t processors, now;
  set(wish, &processors);
  long io = syscall(SYS_ioprio_get, OWN, 0);
  up++;
  while (!feature_over) {
    struct sched_param parameter;
    CHECK(sched_getscheduler(0) == wish->policy && !sched_getparam(0, &parameter) &&
              parameter.sched_priority == wish->priority,
          "policy %#x with %d became %#x with %d", wish->policy, wish->priority, sched_getscheduler(0),
          parameter.sched_priority);
    CHECK(getpriority(PRIO_PROCESS, 0) == nice_of(wish), "nice value %d became %d", nice_of(wish),
          getpriority(PRIO_PROCESS, 0));
    CHECK(!sched_getaffinity(0, sizeof now, &now) && CPU_EQUAL(&now, &processors), "a thread runs on other processors");
    CHECK(syscall(SYS_ioprio_get, OWN, 0) == io, "I/O priority %#lx became %#lx", io, syscall(SYS_ioprio_get, OWN, 0));
    pause_ms(3);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  enum { ORDINARY = sizeof ordinary / sizeof *ordinary, ALL = ORDINARY + sizeof privileged / sizeof *privileged };
  int count = geteuid() ? ORDINARY : ALL;
  pthread_t threads[ALL];
  base = getpriority(PRIO_PROCESS, 0);
  for (int i = 0; i < count; i++)
    threads[i] = start_thread(worker, (void *)(i < ORDINARY ? &ordinary[i] : &privileged[i - ORDINARY]));
  while (up < count) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == base,
          "the main thread has another's policy or nice value");
    pause_ms(5);
  }
  for (int i = 0; i < count; i++) join_thread(threads[i]);
  return feature_pass();
}
