/* Mappings of every kind keep content, protection, flags and what backs them. */
#include "smaps.h"
#include <setjmp.h>
#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 16 * PAGE };
static sigjmp_buf trap;
static void on_fault(int signum) {
  siglongjmp(trap, signum);
}

static bool faults(volatile char *at, bool write) {
  if (sigsetjmp(trap, 1)) return true;
  if (write) *at = *at;
  else (void)*at;
  return false;
}

static char *map(size_t bytes, int protection, int flags, int fd, off_t offset) {
  char *at = mmap(NULL, bytes, protection, flags, fd, offset);
  CHECK(at != MAP_FAILED, "mmap with flags %#x", flags);
  return at;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int file = open_scratch("mapped", O_RDWR | O_CREAT | O_EXCL);
  unsigned char content[SIZE];
  fill_pattern(content, SIZE, 50);
  MUST(write(file, content, SIZE) == SIZE);
  char *private = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *shared = map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char *dirty = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  char *part = map(4 * PAGE, PROT_READ, MAP_PRIVATE, file, 2 * PAGE);
  int shared_fd = open_scratch("shared.data", O_RDWR | O_CREAT | O_EXCL);
  MUST(!ftruncate(shared_fd, SIZE));
  char *shared_file = map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
  char *forbidden = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *down = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
  char *lonely = map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *executable = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(!close(file) && !close(shared_fd));
  fill_pattern(shared, SIZE, 51), fill_pattern(forbidden, SIZE, 52), fill_pattern(down, SIZE, 53),
      fill_pattern(lonely, PAGE, 54);
  fill_pattern(dirty + 3 * PAGE, PAGE, 55);
  MUST(!mprotect(forbidden, SIZE / 2, PROT_NONE) && !mprotect(forbidden + SIZE / 2, SIZE / 2, PROT_READ));
  MUST(!madvise(lonely, SIZE, MADV_DONTFORK)); /* not in a fork of ours, so not in a snapshot made by one */
  const unsigned char code[] = {0xb8, 0x2a, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
  memcpy(executable, code, sizeof code);
  struct sigaction action = {.sa_handler = on_fault};
  MUST(!sigaction(SIGSEGV, &action, NULL) && !sigaction(SIGBUS, &action, NULL));
  feature_ready();
  uint64_t n = 0;
  fill_pattern(private, SIZE, 1000), fill_pattern(shared_file, SIZE, 2000);
  for (; !feature_finishing(); n++) {
    check_pattern(private, SIZE, 1000 + n, "private anonymous");
    check_pattern(shared_file, SIZE, 2000 + n, "shared file");
    fill_pattern(private, SIZE, 1001 + n), fill_pattern(shared_file, SIZE, 2001 + n);
    check_pattern(shared, SIZE, 51, "shared anonymous"), check_pattern(down, SIZE, 53, "grows-down");
    check_pattern(lonely, PAGE, 54, "not-in-a-fork");
    CHECK(!lonely[PAGE] && !lonely[SIZE - 1], "an untouched page is not zero");
    CHECK(!memcmp(dirty, content, 3 * PAGE) && !memcmp(dirty + 4 * PAGE, content + 4 * PAGE, SIZE - 4 * PAGE),
          "clean pages of a private file mapping changed");
    check_pattern(dirty + 3 * PAGE, PAGE, 55, "dirty page of a private file mapping");
    CHECK(!memcmp(part, content + 2 * PAGE, 4 * PAGE), "a read-only file mapping changed");
    CHECK(faults(forbidden, false), "PROT_NONE can be read");
    CHECK(faults(forbidden + SIZE / 2, true) && !faults(forbidden + SIZE / 2, false),
          "a read-only mapping has another protection");
    CHECK(faults(part, true), "a read-only file mapping can be written");
    CHECK(((int (*)(void))executable)() == 42, "code in memory does not run");
    if (n % 32 == 0)
      CHECK(has_flag(down, "gd") && has_flag(lonely, "dc"), "a flag of a mapping is lost (grows-down %d, dont-fork %d)",
            has_flag(down, "gd"), has_flag(lonely, "dc"));
    pause_ms(2);
  }
  MUST(!mprotect(forbidden, SIZE / 2, PROT_READ));
  check_pattern(forbidden, SIZE, 52, "content under PROT_NONE");
  MUST(!msync(shared_file, SIZE, MS_SYNC));
  int again = open_scratch("shared.data", O_RDONLY);
  unsigned char bytes[SIZE];
  CHECK(read(again, bytes, SIZE) == SIZE, "shared.data is short");
  check_pattern(bytes, SIZE, 2000 + n, "the file behind a shared mapping");
  int original = open_scratch("mapped", O_RDONLY);
  CHECK(read(original, bytes, SIZE) == SIZE && !memcmp(bytes, content, SIZE), "a private mapping wrote to its file");
  return feature_pass();
}
