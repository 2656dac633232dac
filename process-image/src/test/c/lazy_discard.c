/* What madvise(2) has thrown away is zero, and what is beside it is not: nothing comes back from the image. */
#include "blocks.h"

static unsigned char *blocks;
static bool discarded[BLOCKS * 64]; /* by page */

static unsigned char *page(int p) {
  return blocks + (size_t)p * PAGE;
}

static void check(int p) {
  unsigned char want[BLOCK];
  if (discarded[p]) {
    check_zeros(page(p), PAGE, "page that was thrown away");
    return;
  }
  fill_pattern(want, BLOCK, 1000 + p / 64);
  CHECK(!memcmp(page(p), want + p % 64 * PAGE, PAGE), "page %d is not what it was", p);
}

static void discard(int p, int count) {
  MUST(!madvise(page(p), (size_t)count * PAGE, MADV_DONTNEED));
  for (int i = 0; i < count; i++) discarded[p + i] = true;
}

static void restore_block(int b) {
  fill_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b);
  for (int i = 0; i < 64; i++) discarded[b * 64 + i] = false;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  blocks = map_blocks();
  feature_ready();
  for (uint64_t state = 21; !feature_finishing(); pause_ms(1)) {
    int count = next_random(&state) % 40 + 1, p = next_random(&state) % (BLOCKS * 64 - count);
    discard(p, count);
    check(p), check(p + count - 1), check(p + count);
    if (p > 0) check(p - 1);
    if (next_random(&state) % 8 == 0) restore_block(next_random(&state) % BLOCKS);
  }
  for (int p = 0; p < BLOCKS * 64; p++) check(p);
  return feature_pass();
}
