/* Mappings of all kinds that a parent and its child share, some of which the child has changed: contents, protections
 * and extents stay, and what is shared is in memory once. */
#include "feature.h"
#include "pss.h"
#include "smaps.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PAGE = 4096 };
#define BYTES (4L << 20)
#define HUGE (2L << 20)

enum { PLAIN, READ_ONLY, ZEROS, ADVISED, FILE_PRIVATE, HEAP, MIDDLE_GONE, GROWN, MANY_PIECES, DROPPED, SPLIT, KINDS };
static const char *const NAMES[] = {"plain",
                                    "read-only",
                                    "zeros",
                                    "huge pages",
                                    "private file",
                                    "heap",
                                    "unmapped in the middle",
                                    "grown",
                                    "many pieces",
                                    "discarded",
                                    "small pages that could be huge"};
static unsigned char *at[KINDS];

static unsigned char *map(int flags, int fd) {
  unsigned char *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);
  MUST(mapped != MAP_FAILED);
  return mapped;
}

static bool mine(int kind, long page) {
  return kind == MANY_PIECES && page % 2;
}

static bool gone(int kind, long page) {
  return (kind == MIDDLE_GONE || kind == DROPPED) && page >= BYTES / PAGE / 4 && page < BYTES / PAGE / 2;
}

static void check(bool child) {
  static const unsigned char zeros[PAGE];
  for (int kind = 0; kind < KINDS; kind++)
    for (long page = 0; page < BYTES / PAGE; page++) {
      const unsigned char *bytes = at[kind] + page * PAGE;
      if (kind == ZEROS || (child && kind == DROPPED && gone(kind, page)))
        CHECK(!memcmp(bytes, zeros, PAGE), "%s: page %ld is not zero", NAMES[kind], page);
      else if (!child || !gone(kind, page))
        check_pattern(bytes, PAGE, kind * 10000L + page + (child && mine(kind, page) ? 5000 : 0), NAMES[kind]);
    }
}

static void change(void) {
  MUST(!mprotect(at[READ_ONLY], BYTES / 2, PROT_READ)); /* the other half stays writable */
  MUST(!munmap(at[MIDDLE_GONE] + BYTES / 4, BYTES / 4));
  MUST(!madvise(at[DROPPED] + BYTES / 4, BYTES / 4, MADV_DONTNEED));
  MUST(mremap(at[GROWN], BYTES, 2 * BYTES, 0) == at[GROWN]);
  fill_pattern(at[GROWN] + BYTES, BYTES, 77);
  for (long page = 0; page < BYTES / PAGE; page++)
    if (mine(MANY_PIECES, page)) fill_pattern(at[MANY_PIECES] + page * PAGE, PAGE, MANY_PIECES * 10000L + page + 5000);
}

static void child(int ready) {
  feature_child();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  change();
  char flags[FLAGS], now[FLAGS];
  vm_flags(at[READ_ONLY], flags);
  MUST(write(ready, "", 1) == 1);
  while (!feature_finishing()) {
    check(true);
    pause_ms(10);
  }
  check_pattern(at[GROWN] + BYTES, BYTES, 77, "what the child has made larger");
  vm_flags(at[READ_ONLY], now);
  CHECK(!strcmp(flags, now), "the flags of read-only memory were%s, are%s", flags, now);
  void *room = mmap(NULL, 2 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(room != MAP_FAILED);
  CHECK(mremap(at[GROWN], BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room) == room, "mremap: %s", strerror(errno));
  check_pattern(room, PAGE, GROWN * 10000L, "what the child has moved");
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = open_scratch("mapped", O_RDWR | O_CREAT | O_CLOEXEC);
  static const unsigned char text[PAGE] = "the file's own bytes";
  for (long page = 0; page < BYTES / PAGE; page++) MUST(write(fd, text, PAGE) == PAGE);
  close(fd);
  MUST((fd = open_scratch("mapped", O_RDONLY | O_CLOEXEC)) >= 0);
  for (int kind = 0; kind < KINDS; kind++)
    at[kind] =
        kind == HEAP ? sbrk(BYTES) : map(kind == FILE_PRIVATE ? 0 : MAP_ANONYMOUS, kind == FILE_PRIVATE ? fd : -1);
  close(fd);
  at[ADVISED] = mmap(NULL, 2 * BYTES + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(at[ADVISED] != MAP_FAILED);
  at[ADVISED] += -(uintptr_t)at[ADVISED] & (HUGE - 1);
  at[SPLIT] = at[ADVISED] + BYTES;
  MUST(!madvise(at[ADVISED], BYTES, MADV_HUGEPAGE) && !madvise(at[SPLIT], BYTES, MADV_NOHUGEPAGE));
  MUST(!munmap(at[GROWN], BYTES)); /* to where there is room behind it, which nothing is mapped in any more */
  at[GROWN] = mmap(NULL, 4 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(at[GROWN] != MAP_FAILED && !munmap(at[GROWN] + BYTES, 3 * BYTES));
  for (int kind = 0; kind < KINDS; kind++)
    for (long page = 0; page < BYTES / PAGE; page++) {
      if (kind == ZEROS) memset(at[kind] + page * PAGE, 0, PAGE);
      else fill_pattern(at[kind] + page * PAGE, PAGE, kind * 10000L + page);
    }
  MUST(!madvise(at[SPLIT], BYTES, MADV_HUGEPAGE));
  int ready[2];
  char byte;
  MUST(!pipe2(ready, O_CLOEXEC));
  pid_t pids[2] = {getpid(), fork()};
  MUST(pids[1] >= 0);
  if (!pids[1]) child(ready[1]);
  MUST(read(ready[0], &byte, 1) == 1);
  long then = pss_sum(pids, 2, NULL, NULL);
  CHECK(then < (KINDS + 4) * BYTES, "fork shares nothing here: %ld KiB", then >> 10);
  feature_ready();
  while (!feature_finishing()) {
    check_pss(pids, 2, NULL, NULL, then, 1 << 20, "all memory");
    pause_ms(20);
  }
  check(false);
  CHECK(has_flag(at[ADVISED], "hg"), "huge pages are not advised any more");
  int status;
  CHECK(waitpid(pids[1], &status, 0) == pids[1] && !status, "the child ended with %#x", status);
  check(false);
  return feature_pass();
}
