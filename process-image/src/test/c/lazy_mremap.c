/* Blocks that are moved, grown, shrunk, unmapped and mapped afresh, by two threads at once, keep what they had; what is
 * new is zero. */
#include "blocks.h"

enum { OWN = BLOCKS / 2 };
static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS], patterned[BLOCKS]; /* bytes; the pattern's length, behind which is zero */

static void check(int b) {
  check_pattern(blocks[b], patterned[b], 1000 + b, "block that was moved");
  check_zeros(blocks[b] + patterned[b], sizes[b] - patterned[b], "new end of a block");
}

static void resize(int b, size_t size, int flags) {
  unsigned char *to = mremap(blocks[b], sizes[b], size, flags);
  if (to == MAP_FAILED && !(flags & MREMAP_MAYMOVE)) return; /* no room behind it */
  CHECK(to != MAP_FAILED, "mremap from %zu to %zu bytes", sizes[b], size);
  blocks[b] = to, sizes[b] = size;
  if (patterned[b] > size) patterned[b] = size;
}

static void move(int b) {
  unsigned char *place = map_fresh(sizes[b]),
                *to = mremap(blocks[b], sizes[b], sizes[b], MREMAP_MAYMOVE | MREMAP_FIXED, place);
  CHECK(to == place, "mremap to a fixed address");
  blocks[b] = to;
}

static void renew(int b) {
  MUST(!munmap(blocks[b], sizes[b]));
  blocks[b] = map_fresh(BLOCK), sizes[b] = BLOCK;
  check_zeros(blocks[b], BLOCK, "new block");
  fill_pattern(blocks[b], patterned[b] = BLOCK, 1000 + b);
}

static void step(int b, uint64_t *state) {
  switch (next_random(state) % 8) {
    case 0:
      resize(b, sizes[b] + 4 * PAGE, MREMAP_MAYMOVE);
      break;
    case 1:
      resize(b, sizes[b] > 8 * PAGE ? sizes[b] / 2 & -PAGE : BLOCK, MREMAP_MAYMOVE);
      break;
    case 2:
      resize(b, sizes[b] + 2 * PAGE, 0);
      break;
    case 3:
      renew(b);
      break;
    case 4:
      check(b);
      break;
    default:
      move(b);
  }
}

static void *other(void *unused) {
  for (uint64_t state = 9; !feature_over; pause_ms(2)) step(OWN + next_random(&state) % OWN, &state);
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int b = 0; b < BLOCKS; b++) {
    blocks[b] = map_fresh(BLOCK);
    fill_pattern(blocks[b], sizes[b] = patterned[b] = BLOCK, 1000 + b);
  }
  pthread_t thread = start_thread(other, NULL);
  feature_ready();
  for (uint64_t state = 3; !feature_finishing(); pause_ms(2)) step(next_random(&state) % OWN, &state);
  join_thread(thread);
  for (int b = 0; b < BLOCKS; b++) check(b);
  return feature_pass();
}
