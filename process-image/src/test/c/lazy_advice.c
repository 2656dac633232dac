/* Advice that is given and taken back again and again, also while the memory that it is about has not come in yet:
 * forks go by it. */
#include "blocks.h"
#include <sys/wait.h>

typedef enum { PLAIN, WIPED, ABSENT, KINDS } Kind;
static const int give[KINDS] = {0, MADV_WIPEONFORK, MADV_DONTFORK}, take[KINDS] = {0, MADV_KEEPONFORK, MADV_DOFORK};
static unsigned char *blocks;
static Kind kinds[BLOCKS];

static void check_in_child(int b) {
  unsigned char *at = blocks + (size_t)b * BLOCK, resident;
  switch (kinds[b]) {
    case PLAIN:
      check_pattern(at, BLOCK, 1000 + b, "block of a child");
      break;
    case WIPED:
      check_zeros(at, BLOCK, "block that is wiped in children");
      break;
    default:
      CHECK(mincore(at, PAGE, &resident) == -1 && errno == ENOMEM, "a child has a block that is not for it");
  }
}

static void await(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0) CHECK(errno == EINTR, "waitpid");
  CHECK(!status, "a child ended with %#x", status);
}

static void look(uint64_t state) {
  pid_t child = fork();
  MUST(child >= 0);
  if (child) {
    await(child);
    return;
  }
  feature_child();
  for (int i = 0; i < 3; i++) check_in_child(next_random(&state) % BLOCKS);
  pid_t grandchild = fork(); /* what was wiped once stays so */
  MUST(grandchild >= 0);
  if (!grandchild) {
    feature_child();
    check_in_child(next_random(&state) % BLOCKS);
    _exit(0);
  }
  await(grandchild);
  _exit(0);
}

int main(int argc, char **argv) {
  static const int harmless[] = {MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_MERGEABLE, MADV_UNMERGEABLE,
                                 MADV_DONTDUMP, MADV_DODUMP,     MADV_COLD,      MADV_WILLNEED};
  feature_start(argc, argv);
  blocks = map_blocks();
  feature_ready();
  for (uint64_t state = 31; !feature_finishing(); pause_ms(1)) {
    int b = next_random(&state) % BLOCKS;
    unsigned char *at = blocks + (size_t)b * BLOCK;
    if (kinds[b] != PLAIN) MUST(!madvise(at, BLOCK, take[kinds[b]]));
    kinds[b] = next_random(&state) % KINDS;
    if (kinds[b] != PLAIN) MUST(!madvise(at, BLOCK, give[kinds[b]]));
    int advice = harmless[next_random(&state) % (sizeof harmless / sizeof *harmless)];
    CHECK(!madvise(blocks + next_random(&state) % BLOCKS * BLOCK, BLOCK, advice) || errno == EINVAL, "madvise(%d)",
          advice);
    look(state);
    b = next_random(&state) % BLOCKS;
    check_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b, "block");
  }
  for (int b = 0; b < BLOCKS; b++) check_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b, "block");
  return feature_pass();
}
