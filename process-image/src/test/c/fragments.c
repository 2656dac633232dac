/* Memory in more pieces than the kernel lists at a time (512): every second page is written, the others never. */
#include "feature.h"
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 5000 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char *area = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(area != MAP_FAILED);
  MUST(!madvise(area, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE) || errno == EINVAL); /* a kernel without THP */
  for (size_t n = 0; n < PAGES; n += 2) *(size_t *)(area + n * PAGE) = n + 1;
  feature_ready();
  for (size_t rounds = 1; !feature_finishing(); rounds++) {
    for (size_t n = 0; n < PAGES; n += 2) {
      size_t *word = (size_t *)(area + n * PAGE);
      CHECK(*word == n + rounds, "page %zu holds %zu, not %zu", n, *word, n + rounds);
      ++*word;
    }
    pause_ms(2);
  }
  for (size_t n = 1; n < PAGES; n += 2)
    CHECK(!*(size_t *)(area + n * PAGE), "page %zu, which was never written, is not zero", n);
  return feature_pass();
}
