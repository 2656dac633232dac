/* Memory that grows downwards when it is touched below (MAP_GROWSDOWN; the main stack), and memory without swap behind
 * it (MAP_NORESERVE). */
#include "smaps.h"
#include <sys/mman.h>

enum { PAGE = 4096, ROOM = 256 * PAGE, STEP = 3 * PAGE, KEPT = 16 * PAGE };

/* Touches the main stack 16 KiB deeper with each level. */
static int deeper(int levels, int seed) {
  volatile char frame[4 * PAGE];
  for (int i = 0; i < (int)sizeof frame; i += PAGE / 2) frame[i] = (char)(seed + levels);
  int sum = levels ? deeper(levels - 1, seed) : 0;
  for (int i = 0; i < (int)sizeof frame; i += PAGE / 2)
    CHECK(frame[i] == (char)(seed + levels), "a stack frame changed");
  return sum + 1;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char *room = mmap(NULL, ROOM + (1 << 21), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(room != MAP_FAILED &&
       !munmap(room + (1 << 21), ROOM)); /* the rest stays: nobody else may come nearer than the kernel's guard gap */
  char *top = room + ROOM + (1 << 21),
       *down = mmap(top - KEPT, KEPT, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
  MUST(down == top - KEPT);
  char *spare = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MUST(spare != MAP_FAILED);
  fill_pattern(spare + (1 << 29), 5 * PAGE, 7), fill_pattern(down, KEPT, 8);
  bool unreserved = has_flag(spare, "nr");
  char *low = down;
  int levels = 10;
  feature_ready();
  bool over = false;
  for (uint64_t n = 0; !over; n++) {
    over = feature_finishing();
    check_pattern(down, KEPT, 8, "memory that grows downwards"),
        check_pattern(spare + (1 << 29), 5 * PAGE, 7, "memory without swap");
    CHECK(!spare[(n * 31 % 1024) << 18], "untouched memory without swap is not zero");
    for (char *page = low; page < down; page += PAGE)
      CHECK(*(int64_t *)page == top - page, "a page that the mapping has grown by changed");
    if ((n % 4 == 0 || over) && top - low < ROOM - STEP) { /* it can grow in each incarnation */
      for (int i = 0; i < STEP; i += PAGE) low -= PAGE, *(volatile int64_t *)low = top - low;
      levels += 3; /* 8 MiB of stack are 512 levels */
    }
    CHECK(deeper(levels < 400 ? levels : 400, (int)n) > 10, "the stack does not grow");
    if (n % 16 == 0 || over) CHECK(has_flag(down, "gd") && has_flag(spare, "nr") == unreserved, "a flag is lost");
    pause_ms(5);
  }
  return feature_pass();
}
