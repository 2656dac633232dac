/* Guard pages that no mapping's permissions show (MADV_GUARD_INSTALL, Linux 6.13): in the middle, at the end beside
 * another mapping that begins with some, in locked memory, in memory that forks leave out. */
#include "feature.h"
#include <setjmp.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 32, SIZE = PAGES * PAGE, GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

static sigjmp_buf back;
static void *volatile fault;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  fault = info->si_addr;
  siglongjmp(back, 1);
}

static void check_guard(volatile char *page, const char *what) {
  fault = NULL;
  if (!sigsetjmp(back, 1)) {
    (void)page[1];
    FAIL("%s: a guard page could be read", what);
  }
  CHECK(fault == page + 1, "%s: the fault was at %p", what, fault);
}

static char *anonymous(char *at) {
  char *memory =
      mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  MUST(memory != MAP_FAILED);
  return memory;
}

/* Pages [first, last) are guards, the others hold a pattern. */
static void make(char *memory, int first, int last, uint64_t seed) {
  fill_pattern(memory, (size_t)first * PAGE, seed);
  fill_pattern(memory + last * PAGE, (size_t)(PAGES - last) * PAGE, seed + 100);
  MUST(!madvise(memory + first * PAGE, (size_t)(last - first) * PAGE, GUARD_INSTALL));
}

static void check(char *memory, int first, int last, uint64_t seed, const char *what) {
  check_pattern(memory, (size_t)first * PAGE, seed, what);
  check_pattern(memory + last * PAGE, (size_t)(PAGES - last) * PAGE, seed + 100, what);
  check_guard(memory + first * PAGE, what);
  check_guard(memory + (last - 1) * PAGE, what);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  MUST(!sigaction(SIGSEGV, &action, NULL));
  char *both = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(both != MAP_FAILED && !munmap(both, 2 * SIZE));
  char *low = anonymous(both), *high = anonymous(both + SIZE), *middle = anonymous(NULL), *locked = anonymous(NULL),
       *left = anonymous(NULL);
  if (madvise(low, PAGE, GUARD_INSTALL)) {
    CHECK(errno == EINVAL, "madvise(MADV_GUARD_INSTALL)");
    puts("this kernel has no guard pages: there is nothing to lose");
    feature_ready();
    while (!feature_finishing()) pause_ms(5);
    return feature_pass();
  }
  MUST(!madvise(low, PAGE, GUARD_REMOVE) &&
       !mprotect(high, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC)); /* two mappings, not one */
  make(low, PAGES - 4, PAGES, 1);
  make(high, 0, 3, 2);
  make(middle, 7, 9, 3);
  make(locked, 20, 21, 4);
  mlock(locked, SIZE); /* which it is, although not all of it could be brought in */
  make(left, 10, 30, 5);
  MUST(!madvise(left, SIZE, MADV_DONTFORK));
  feature_ready();
  while (!feature_finishing()) {
    check(low, PAGES - 4, PAGES, 1, "guards at the end");
    check(high, 0, 3, 2, "guards at the beginning");
    check(middle, 7, 9, 3, "guards in the middle");
    check(locked, 20, 21, 4, "guards in locked memory");
    check(left, 10, 30, 5, "guards in memory that forks leave out");
    pause_ms(5);
  }
  MUST(!madvise(middle + 7 * PAGE, 2 * PAGE, GUARD_REMOVE));
  CHECK(middle[7 * PAGE] == 0 && middle[9 * PAGE - 1] == 0, "pages that were guards are not empty");
  return feature_pass();
}
