/* Locked memory: whole mappings, parts of them, pages that are locked as they come, and that they can be unlocked
 * again. */
#include "smaps.h"
#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 64 * PAGE };

static long locked_kb(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[300];
  long kb = -1;
  while (fgets(line, sizeof line, status)) sscanf(line, "VmLck: %ld", &kb);
  fclose(status);
  return kb;
}

static char *anonymous(uint64_t seed) {
  char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(at != MAP_FAILED);
  fill_pattern(at, SIZE / 2, seed);
  return at;
}

static int resident(char *at) {
  unsigned char pages[SIZE / PAGE];
  int count = 0;
  MUST(!mincore(at, SIZE, pages));
  for (int i = 0; i < SIZE / PAGE; i++) count += pages[i] & 1;
  return count;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char *whole = anonymous(1), *part = anonymous(2), *later = anonymous(3), *wiped = anonymous(4), *plain = anonymous(5);
  int file = open_scratch("locked", O_RDWR | O_CREAT);
  MUST(!ftruncate(file, SIZE));
  char *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  MUST(mapped != MAP_FAILED && !close(file));
  MUST(!mlock(whole, SIZE) && !mlock(part + 8 * PAGE, 4 * PAGE) && !mlock2(later, SIZE, MLOCK_ONFAULT) &&
       !madvise(wiped, SIZE, MADV_WIPEONFORK) && !mlock(wiped, SIZE) && !mlock(mapped, SIZE));
  long kb = locked_kb();
  MUST(kb == 4 * SIZE / 1024 + 16);
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    CHECK(locked_kb() == kb, "%ld KiB were locked, now %ld", kb, locked_kb());
    CHECK(has_flag(part + 8 * PAGE, "lo") && !has_flag(part, "lo") && !has_flag(part + 12 * PAGE, "lo") &&
              !has_flag(plain, "lo"),
          "other pages are locked");
    const struct {
      const char *name, *at, *flag;
    } flags[] = {{"later", later, "lo"}, {"whole", whole, "lo"}, {"wiped", wiped, "wf"}, {"mapped", mapped, "lo"}};
    for (int i = 0; i < 4; i++) {
      char now[FLAGS];
      vm_flags(flags[i].at, now);
      CHECK(has_flag(flags[i].at, flags[i].flag), "%s at %p has lost %s: it had%s", flags[i].name,
            (const void *)flags[i].at, flags[i].flag, now);
    }
    check_pattern(whole, SIZE / 2, 1, "locked memory"), check_pattern(part, SIZE / 2, 2, "memory with a lock within"),
        check_pattern(later, SIZE / 2, 3, "memory that is locked as it comes");
    check_pattern(wiped, SIZE / 2, 4, "locked memory that is wiped in children"),
        check_pattern(plain, SIZE / 2, 5, "memory beside");
    CHECK(resident(whole) == SIZE / PAGE, "only %d locked pages are there", resident(whole));
    CHECK(resident(later) < SIZE / PAGE,
          "pages that nobody has touched have come in: locked as they come is locked now");
    pause_ms(5);
  }
  MUST(!munlock(whole, SIZE) && !munlock(later, SIZE) && !munlock(part, SIZE) && !munlock(wiped, SIZE) &&
       !munlock(mapped, SIZE));
  CHECK(locked_kb() == 0, "%ld KiB stay locked", locked_kb());
  return feature_pass();
}
