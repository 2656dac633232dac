/* Memory that processes have in common by forks at different times, so that a restart gives it to a maker piece by
 * piece: a first process that changes the lower half of what two of its children still have; a child that was made when
 * there was memory at a high address, and then at a low one, and that makes a child of its own with memory between. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE, CHILDREN = 4 };
enum { OLD, HIGH, LOW, BETWEEN, REGIONS };
/* addresses that no library has, not in the order in which they are mapped */
static char *const places[REGIONS] = {(char *)0x300000000000, (char *)0x380000000000, (char *)0x200000000000,
                                      (char *)0x280000000000};
static uint64_t sums[REGIONS];
static int have; /* regions */

static uint64_t sum(int region) {
  uint64_t sum = 14695981039346656037u;
  for (uint64_t *at = (uint64_t *)places[region], *end = at + BYTES / 8; at < end; at++)
    sum = (sum ^ *at) * 1099511628211;
  return sum;
}

/* A page in the middle is never touched. */
static void fill(int region, int from, int to, uint64_t value) {
  for (int page = from; page < to; page++)
    for (int i = 0; page != PAGES / 2 && i < PAGE / 8; i++)
      ((uint64_t *)(places[region] + page * PAGE))[i] = value += 0x9e3779b97f4a7c15;
  sums[region] = sum(region);
}

static void map(int region) {
  MUST(mmap(places[region], BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
       places[region]);
  fill(region, 0, PAGES, (uint64_t)region << 32);
  have |= 1 << region;
}

static void check(void) {
  for (int i = 0; i < REGIONS; i++) CHECK(!(have >> i & 1) || sum(i) == sums[i], "memory at %p", (void *)places[i]);
}

static _Noreturn void work(pid_t child) {
  while (!feature_finishing()) check(), pause_ms(5);
  int status = 0;
  if (child) MUST(waitpid(child, &status, 0) == child && !status);
  _exit(0);
}

static pid_t make(bool parent) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (pid) return pid;
  feature_child();
  pid_t own = 0;
  if (parent) {
    map(BETWEEN);
    own = make(false);
  }
  work(own);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pid_t children[CHILDREN];
  map(OLD);
  for (int i = 0; i < 2; i++) children[i] = make(false);
  fill(OLD, 0, PAGES / 2, 77);
  map(HIGH);
  children[2] = make(false);
  map(LOW);
  children[3] = make(true);
  feature_ready();
  while (!feature_finishing()) check(), pause_ms(5);
  for (int i = 0, status; i < CHILDREN; i++) MUST(waitpid(children[i], &status, 0) == children[i] && !status);
  return feature_pass();
}
