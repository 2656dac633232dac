/* Memory that fork(2) shares between a parent, its children and a grandchild is in memory once, also after restarts;
 * what one of them has changed is its own. */
#include "feature.h"
#include "pss.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { CHILDREN = 4, PROCESSES = CHILDREN + 2, PAGE = 4096, CHANGED = 16 };
#define BYTES (48L << 20)

static unsigned char *memory;
static pid_t parent;

/* One page in CHANGED is child N's own. */
static void change(int n) {
  for (long at = n * PAGE; at < BYTES; at += CHANGED * PAGE) fill_pattern(memory + at, PAGE, 1000 * n + at / PAGE);
}

static void check_page(int n, long page) {
  bool own = n && page % CHANGED == n;
  check_pattern(memory + page * PAGE, PAGE, (uint64_t)(own ? 1000L * n + page : page),
                own ? "memory of its own" : "shared memory");
}

static void *look(void *argument) {
  for (long page = 0, n = (long)argument; !feature_over; page = (page + 7) % (BYTES / PAGE), pause_ms(1))
    check_page(n, page);
  return NULL;
}

static void child(int n, int ready) {
  feature_child();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  change(n);
  pthread_t thread = start_thread(look, (void *)(long)n);
  pid_t grandchild = 0;
  if (n == 1 && !(grandchild = fork())) { /* has the child's pages, and changes none */
    feature_child();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t self = getpid();
    MUST(write(ready, &self, sizeof self) == sizeof self);
    while (!feature_finishing()) check_page(n, (long)(now_ns() / 1000 % (BYTES / PAGE))), pause_ms(5);
    for (long page = 0; page < BYTES / PAGE; page++) check_page(n, page);
    _exit(0);
  }
  pid_t self = getpid();
  MUST(write(ready, &self, sizeof self) == sizeof self);
  while (!feature_finishing()) pause_ms(5);
  join_thread(thread);
  for (long page = 0; page < BYTES / PAGE; page++) check_page(n, page);
  int status;
  if (grandchild)
    CHECK(waitpid(grandchild, &status, 0) == grandchild && !status, "the grandchild ended with %#x", status);
  memset(memory, n, BYTES); /* nobody else sees it */
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  parent = getpid();
  memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED);
  for (long page = 0; page < BYTES / PAGE; page++) fill_pattern(memory + page * PAGE, PAGE, page);
  int ready[2];
  MUST(!pipe2(ready, O_CLOEXEC));
  pid_t pids[PROCESSES] = {parent}, children[CHILDREN];
  for (int n = 1; n <= CHILDREN; n++) {
    MUST((children[n - 1] = fork()) >= 0);
    if (!children[n - 1]) child(n, ready[1]);
  }
  pid_t other = fork(); /* shares nothing any more */
  MUST(other >= 0);
  if (!other) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/bin/sleep", "sleep", "3600", NULL);
    _exit(1);
  }
  for (int i = 1; i < PROCESSES; i++) MUST(read(ready[0], &pids[i], sizeof pids[i]) == sizeof pids[i]);
  pthread_t thread = start_thread(look, NULL);
  long then = pss_sum(pids, PROCESSES, memory, memory + BYTES), all = pss_sum(pids, PROCESSES, NULL, NULL);
  CHECK(then < BYTES + BYTES / 2, "fork shares nothing here: %ld KiB", then >> 10);
  feature_ready();
  while (!feature_finishing()) {
    check_pss(pids, PROCESSES, memory, memory + BYTES, then, 0, "shared memory");
    check_pss(pids, PROCESSES, NULL, NULL, all, 1 << 20, "all memory");
    pause_ms(20);
  }
  join_thread(thread);
  for (long page = 0; page < BYTES / PAGE; page++) check_page(0, page);
  kill(other, SIGKILL);
  int status;
  for (int i = 0; i < CHILDREN; i++)
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "child %d ended with %#x", i + 1, status);
  for (long page = 0; page < BYTES / PAGE; page++) check_page(0, page);
  return feature_pass();
}
