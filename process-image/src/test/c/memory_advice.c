/* Advice to the kernel about memory (madvise(2)), alone and together, on mappings large enough to come in after a
 * restart: it is still given, and forks go by it. */
#include "blocks.h"
#include "smaps.h"
#include <sys/wait.h>

enum { ADVICES = 12, BYTES = 24 * BLOCK };
typedef struct {
  int advice[3];
  const char *flags[3];
  bool wiped, absent;
} Advised;

static const Advised kinds[ADVICES] = {
    {{MADV_WIPEONFORK}, {"wf"}, true, false},
    {{MADV_DONTFORK}, {"dc"}, false, true},
    {{MADV_DONTDUMP}, {"dd"}, false, false},
    {{MADV_HUGEPAGE}, {"hg"}, false, false},
    {{MADV_NOHUGEPAGE}, {"nh"}, false, false},
    {{MADV_MERGEABLE}, {"mg"}, false, false},
    {{MADV_SEQUENTIAL}, {"sr"}, false, false},
    {{MADV_RANDOM}, {"rr"}, false, false},
    {{MADV_DONTFORK, MADV_DONTDUMP, MADV_RANDOM}, {"dc", "dd", "rr"}, false, true},
    {{MADV_WIPEONFORK, MADV_DONTDUMP, MADV_NOHUGEPAGE}, {"wf", "dd", "nh"}, true, false},
    {{MADV_WIPEONFORK, MADV_MERGEABLE, MADV_HUGEPAGE}, {"wf", "mg", "hg"}, true, false},
    {{MADV_DONTFORK, MADV_HUGEPAGE, MADV_MERGEABLE}, {"dc", "hg", "mg"}, false, true},
};
static unsigned char *areas[ADVICES];
static char flags[ADVICES][FLAGS];
static bool given[ADVICES]; /* a kernel may be built without huge pages, or without KSM */

static void advise(int kind) {
  given[kind] = true;
  for (int i = 0; i < 3 && kinds[kind].flags[i]; i++)
    if (madvise(areas[kind], BYTES, kinds[kind].advice[i])) {
      CHECK(errno == EINVAL && kinds[kind].advice[i] >= MADV_MERGEABLE && kinds[kind].advice[i] <= MADV_NOHUGEPAGE,
            "madvise(%d)", kinds[kind].advice[i]);
      given[kind] = false;
    } else
      CHECK(has_flag(areas[kind], kinds[kind].flags[i]), "madvise(%d) shows no flag %s", kinds[kind].advice[i],
            kinds[kind].flags[i]);
  vm_flags(areas[kind], flags[kind]);
}

static void check_flags_of(int kind) {
  char now[FLAGS];
  vm_flags(areas[kind], now);
  CHECK(!strcmp(now, flags[kind]), "memory of kind %d had the flags%s, has%s", kind, flags[kind], now);
}

/* A fork has, misses or finds zeroed what the advice says; of a block that nobody has touched since a restart, too. */
static void look_in_child(uint64_t *state) {
  int block = next_random(state) % 24, status;
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    feature_child();
    for (int k = 0; k < ADVICES; k++) {
      unsigned char *at = areas[k] + (size_t)block * BLOCK, resident;
      if (kinds[k].absent)
        CHECK(mincore(at, PAGE, &resident) == -1 && errno == ENOMEM, "a child has memory of kind %d", k);
      else if (kinds[k].wiped) check_zeros(at, BLOCK, "memory that is wiped in children");
      else check_pattern(at, BLOCK, 100 * k + block, "memory of a child");
    }
    _exit(0);
  }
  while (waitpid(child, &status, 0) < 0) CHECK(errno == EINTR, "waitpid");
  CHECK(!status, "a child ended with %#x", status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int k = 0; k < ADVICES; k++) {
    areas[k] = map_fresh(BYTES + 2 * PAGE);
    MUST(!munmap(areas[k], PAGE) &&
         !munmap(areas[k] + BYTES + PAGE, PAGE)); /* nothing beside it that it could be joined with */
    areas[k] += PAGE;
    advise(k);
    for (int b = 0; b < 24; b++) fill_pattern(areas[k] + (size_t)b * BLOCK, BLOCK, 100 * k + b);
  }
  feature_ready();
  bool over = false;
  for (uint64_t state = 17; !over;) {
    over = feature_finishing();
    look_in_child(&state);
    int kind = next_random(&state) % ADVICES;
    if (given[kind]) check_flags_of(kind);
    pause_ms(2);
  }
  for (int k = 0; k < ADVICES; k++) {
    if (given[k]) check_flags_of(k);
    for (int b = 0; b < 24; b++) check_pattern(areas[k] + (size_t)b * BLOCK, BLOCK, 100 * k + b, "advised memory");
  }
  return feature_pass();
}
