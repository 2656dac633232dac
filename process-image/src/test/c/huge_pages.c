/* Memory with MADV_HUGEPAGE: content, sparse holes, and the advice itself. */
#include "smaps.h"
#include <sys/mman.h>

enum { HUGE = 2 << 20, COUNT = 8 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char *raw = mmap(NULL, (COUNT + 1) * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(raw != MAP_FAILED);
  char *area = (char *)(((uintptr_t)raw + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
  bool available =
      !madvise(area, COUNT * HUGE, MADV_HUGEPAGE); /* a kernel without THP says EINVAL: still plain memory */
  CHECK(available || errno == EINVAL, "madvise(MADV_HUGEPAGE)");
  uint64_t words = HUGE / 8, seeds[COUNT];
  uint64_t *table = (uint64_t *)area;
  for (uint64_t h = 0; h < COUNT; h += 2) { /* every second one stays untouched */
    seeds[h] = h + 1;
    for (uint64_t w = 0; w < words; w += 64) table[h * words + w] = seeds[h] * 1000003 + w;
  }
  feature_ready();
  for (uint64_t n = 0; !feature_finishing(); n++) {
    uint64_t h = n % (COUNT / 2) * 2;
    for (uint64_t w = 0; w < words; w += 64) {
      CHECK(table[h * words + w] == seeds[h] * 1000003 + w, "huge page %lu, word %lu", h, w);
      table[h * words + w] = (seeds[h] + 1) * 1000003 + w;
    }
    seeds[h]++;
    pause_ms(2);
  }
  for (uint64_t w = 0; w < words; w++) CHECK(!table[words + w], "an untouched page is not zero");
  CHECK(!available || has_flag(area, "hg"), "the advice MADV_HUGEPAGE is lost");
  return feature_pass();
}
