/* Memory in blocks, each with a pattern of its own, of which a program touches a few at a time: much of it is still
 * missing when a restored program comes to it. */
#ifndef BLOCKS_H
#define BLOCKS_H
#include "feature.h"
#include <sys/mman.h>

enum { PAGE = 4096, BLOCKS = 48, BLOCK = 64 * PAGE };

static inline unsigned char *map_fresh(size_t bytes) {
  unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED, "mmap of %zu bytes", bytes);
  return at;
}

static inline void check_zeros(const unsigned char *at, size_t bytes, const char *what) {
  for (size_t i = 0; i < bytes; i++) CHECK(at[i] == 0, "%s: byte %zu of %zu is %02x, not zero", what, i, bytes, at[i]);
}

static inline unsigned char *map_blocks(void) {
  unsigned char *blocks = map_fresh((size_t)BLOCKS * BLOCK);
  for (int b = 0; b < BLOCKS; b++) fill_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b);
  return blocks;
}
#endif
