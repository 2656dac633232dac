/* Shared memory without a name that is opened by the link of its mapping (/proc/self/map_files, which needs
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), mapped once more from there, shared and private, with the descriptor open:
 * all of it is one memory. Who may not open the link has the mapping alone. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 5, SIZE = PAGES * PAGE };

static void *map(int fd, int kind, int page) {
  void *at = mmap(NULL, SIZE - page * PAGE, PROT_READ | PROT_WRITE, kind, fd, (off_t)page * PAGE);
  CHECK(at != MAP_FAILED, "mmap of what is open by its mapping's link");
  return at;
}

static void *page(void *memory, int number) {
  return (char *)memory + number * PAGE;
}

static void child_works(void *whole) {
  feature_child();
  while (!feature_finishing()) {
    (*(_Atomic uint64_t *)whole)++;
    pause_ms(2);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  void *whole = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(whole != MAP_FAILED);
  for (int i = 1; i < PAGES; i++) fill_pattern(page(whole, i), PAGE, i);
  char *link = NULL;
  MUST(asprintf(&link, "/proc/self/map_files/%lx-%lx", (long)whole, (long)whole + SIZE) > 0);
  int fd = open(link, O_RDWR);
  CHECK(fd >= 0 || errno == EPERM, "open of a mapping's link");
  free(link);
  void *shared = fd < 0 ? NULL : map(fd, MAP_SHARED, 2), *private = fd < 0 ? NULL : map(fd, MAP_PRIVATE, 1);
  if (private) fill_pattern(page(private, 1), PAGE, 17);
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) child_works(whole);
  feature_ready();
  for (uint32_t round = 20; !feature_finishing(); round++) {
    uint64_t before = *(_Atomic uint64_t *)whole;
    for (int i = 0; i < 2000 && *(_Atomic uint64_t *)whole == before && !feature_finishing(); i++) pause_ms(2);
    CHECK(*(_Atomic uint64_t *)whole != before || feature_finishing(), "the child's count is not seen");
    check_pattern(page(whole, 1), PAGE, 1, "shared memory");
    if (fd < 0) continue;
    check_pattern(private, PAGE, 1, "a private page that nobody has written to");
    check_pattern(page(private, 1), PAGE, 17, "a private page that was written to");
    uint64_t stamp = round, read = 0;
    MUST(pwrite(fd, &stamp, sizeof stamp, 4 * PAGE) == sizeof stamp);
    memcpy(&read, page(shared, 2), sizeof read);
    CHECK(read == stamp && !memcmp(page(whole, 4), &stamp, sizeof stamp), "what is written to the descriptor");
    CHECK(!memcmp(page(private, 3), &stamp, sizeof stamp), "what is written, by a private page that is as it was");
    stamp++;
    memcpy(page(shared, 1), &stamp, sizeof stamp);
    MUST(pread(fd, &read, sizeof read, 3 * PAGE) == sizeof read);
    CHECK(read == stamp && !memcmp(page(whole, 3), &stamp, sizeof stamp), "what the second mapping's page says");
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child ended with %#x", status);
  return feature_pass();
}
