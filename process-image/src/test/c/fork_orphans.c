/* What children share whose parent has ended, or has changed its own pages since: they have it in memory once, after
 * restarts too. */
#include "feature.h"
#include "pss.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { ORPHANS = 3, CHILDREN = 2, PROCESSES = 1 + ORPHANS + CHILDREN, PAGE = 4096 };
#define BYTES (16L << 20)

static unsigned char *memory;

static void fill(int version) {
  for (long page = 0; page < BYTES / PAGE; page++) fill_pattern(memory + page * PAGE, PAGE, version * 100000L + page);
}

static void check(int version) {
  for (long page = 0; page < BYTES / PAGE; page++)
    check_pattern(memory + page * PAGE, PAGE, version * 100000L + page, "shared memory");
}

/* Whoever has a page of VERSION. */
static void member(int version, int ready) {
  feature_child();
  pid_t self = getpid();
  MUST(write(ready, &self, sizeof self) == sizeof self);
  for (long page = 0; !feature_finishing(); page = (page + 11) % (BYTES / PAGE), pause_ms(3))
    check_pattern(memory + page * PAGE, PAGE, version * 100000L + page, "shared memory");
  check(version);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!prctl(PR_SET_CHILD_SUBREAPER, 1)); /* so that the orphans can be waited for */
  memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED);
  int ready[2], status;
  MUST(!pipe2(ready, O_CLOEXEC));
  pid_t pids[PROCESSES] = {getpid()}, middle = fork();
  MUST(middle >= 0);
  if (!middle) {
    fill(1);
    for (int i = 0; i < ORPHANS; i++)
      if (!fork()) member(1, ready[1]);
    _exit(0);
  }
  CHECK(waitpid(middle, &status, 0) == middle && !status, "the orphans' parent ended with %#x", status);
  fill(2);
  for (int i = 0; i < CHILDREN; i++)
    if (!fork()) member(2, ready[1]);
  for (int i = 1; i < PROCESSES; i++) MUST(read(ready[0], &pids[i], sizeof pids[i]) == sizeof pids[i]);
  fill(3);
  long then = pss_sum(pids, PROCESSES, memory, memory + BYTES);
  CHECK(then < 4 * BYTES, "fork shares nothing here: %ld KiB", then >> 10);
  feature_ready();
  while (!feature_finishing())
    check_pss(pids, PROCESSES, memory, memory + BYTES, then, 0, "shared memory"), pause_ms(20);
  check(3);
  for (int i = 1; i < PROCESSES; i++) CHECK(wait(&status) > 0 && !status, "a child ended with %#x", status);
  return feature_pass();
}
