/* Mappings of /dev/zero: shared (memory of the kernel's own, which a child has too), private, read-only, with the
 * descriptor closed and open. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, SIZE = 16 * PAGE };

static unsigned char *map(int fd, int protection, int flags) {
  unsigned char *at = mmap(NULL, SIZE, protection, flags, fd, 0);
  CHECK(at != MAP_FAILED, "mmap of /dev/zero");
  return at;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = open("/dev/zero", O_RDWR), reader = open("/dev/zero", O_RDONLY);
  MUST(fd >= 0 && reader >= 0);
  unsigned char *shared = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED),
                *other = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED),
                *private = map(fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  unsigned char *untouched = map(reader, PROT_READ, MAP_PRIVATE), *readable = map(reader, PROT_READ, MAP_SHARED);
  fill_pattern(shared + PAGE, SIZE - PAGE, 1), fill_pattern(other + PAGE, SIZE - PAGE, 2),
      fill_pattern(private, SIZE, 3);
  MUST(!close(reader));
  _Atomic uint64_t *ticks = (void *)shared;
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    feature_child();
    while (!feature_finishing()) {
      (*ticks)++;
      check_pattern(other + PAGE, SIZE - PAGE, 2, "a child's shared mapping of /dev/zero");
      check_pattern(private, SIZE, 3, "a child's private mapping of /dev/zero");
      pause_ms(2);
    }
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    uint64_t before = *ticks;
    check_pattern(shared + PAGE, SIZE - PAGE, 1, "a shared mapping of /dev/zero"),
        check_pattern(private, SIZE, 3, "a private mapping of /dev/zero");
    for (int i = 0; i < SIZE; i += 512)
      CHECK(!untouched[i] && !readable[i], "a mapping of /dev/zero that nobody writes to is not zero");
    for (int i = 0; i < 2000 && *ticks == before && !feature_finishing(); i++) pause_ms(2);
    CHECK(*ticks != before || feature_finishing(), "the child's count is not seen in shared memory");
    char byte = 1;
    CHECK(read(fd, &byte, 1) == 1 && !byte, "/dev/zero");
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child ended with %#x", status);
  return feature_pass();
}
