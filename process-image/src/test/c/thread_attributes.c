/* What threads and processes have asked the kernel for: I/O priority, names with blanks, barriers, tile registers, OOM
 * adjustment. */
#include "feature.h"
#include <linux/membarrier.h>
#include <sys/prctl.h>

enum {
  BEST_EFFORT = 2 << 13,
  OWN = 1,
  XTILEDATA = 18,
  REQUEST_TILES = 0x1023,
  GRANTED_TILES = 0x1022,
  TILES_BIT = 1 << 18
};
static const int barriers[] = {MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE};

static void *worker(void *argument) {
  long level = (long)argument;
  char name[16], got[16];
  snprintf(name, sizeof name, "t (%ld) ", level);
  MUST(!prctl(PR_SET_NAME, name) && !syscall(SYS_ioprio_set, OWN, 0, BEST_EFFORT | level));
  while (!feature_over) {
    MUST(!prctl(PR_GET_NAME, got));
    CHECK(!strcmp(name, got), "thread \"%s\" is called \"%s\"", name, got);
    long priority = syscall(SYS_ioprio_get, OWN, 0);
    CHECK(priority == (BEST_EFFORT | level), "an I/O priority of %#lx became %#lx", BEST_EFFORT | level, priority);
    pause_ms(2);
  }
  return NULL;
}

static int adjustment(void) {
  FILE *file = fopen("/proc/self/oom_score_adj", "r");
  int value = -1;
  CHECK(fscanf(file, "%d", &value) == 1, "oom_score_adj cannot be read");
  fclose(file);
  return value;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  bool known[2], tiles = !syscall(SYS_arch_prctl, REQUEST_TILES, XTILEDATA);
  for (int i = 0; i < 2; i++) known[i] = !syscall(SYS_membarrier, barriers[i] << 1, 0, 0);
  FILE *file = fopen("/proc/self/oom_score_adj", "w");
  MUST(file && fprintf(file, "%d", adjustment() + 17) > 0 && !fclose(file));
  int adjusted = adjustment();
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) threads[i] = start_thread(worker, (void *)(i + 1));
  pause_ms(20);
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < 2; i++)
      CHECK(!known[i] || !syscall(SYS_membarrier, barriers[i], 0, 0), "a membarrier registration (%#x) is lost",
            barriers[i]);
    uint64_t granted = 0;
    CHECK(!tiles || (!syscall(SYS_arch_prctl, GRANTED_TILES, &granted) && granted & TILES_BIT),
          "the permission for AMX is lost");
    CHECK(adjustment() == adjusted, "oom_score_adj was %d, is %d", adjusted, adjustment());
    pause_ms(2);
  }
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  return feature_pass();
}
