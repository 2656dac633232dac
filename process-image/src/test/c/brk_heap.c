/* The heap: sbrk goes on where it was, and malloc's blocks keep their content under constant change. */
#include "feature.h"

enum { BLOCKS = 400 };
static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS];
static uint64_t seeds[BLOCKS];

static void *churn(void *unused) { /* a second arena */
  uint64_t state = 3;
  while (!feature_over) {
    size_t size = next_random(&state) % 5000 + 1;
    unsigned char *block = malloc(size);
    fill_pattern(block, size, size);
    for (volatile int i = 0; i < 1000; i++) {
    }
    check_pattern(block, size, size, "block of a second arena");
    free(block);
    if (size % 16 == 0) pause_ms(1);
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned char *low = sbrk(3 * 4096 + 100);
  MUST(low != (void *)-1);
  fill_pattern(low, 3 * 4096 + 100, 600);
  pthread_t thread = start_thread(churn, NULL);
  uint64_t state = 11;
  feature_ready();
  unsigned char *top = sbrk(0);
  for (uint64_t n = 0; !feature_finishing(); n++) {
    for (int i = 0; i < 50; i++) {
      int b = next_random(&state) % BLOCKS;
      if (blocks[b]) check_pattern(blocks[b], sizes[b], seeds[b], "malloc block");
      sizes[b] = next_random(&state) % (i ? 3000 : 300000) + 1, seeds[b] = n * 50 + i;
      blocks[b] = realloc(blocks[b], sizes[b]);
      MUST(blocks[b]);
      fill_pattern(blocks[b], sizes[b], seeds[b]);
    }
    check_pattern(low, 3 * 4096 + 100, 600, "sbrk memory");
    CHECK((unsigned char *)sbrk(0) >= top, "the break went back from %p to %p", (void *)top, sbrk(0));
    unsigned char *more = sbrk(128);
    CHECK(more != (void *)-1, "sbrk fails now");
    memset(more, 1, 128);
    top = more + 128;
    pause_ms(2);
  }
  join_thread(thread);
  for (int b = 0; b < BLOCKS; b++)
    if (blocks[b]) check_pattern(blocks[b], sizes[b], seeds[b], "malloc block"), free(blocks[b]);
  return feature_pass();
}
