/* Memory that a fork does not copy as it is: wiped in children, locked, and a memfd that is sealed against writing. */
#include "feature.h"
#include <sys/mman.h>

enum { SIZE = 32 * 4096 };

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
  fill_pattern(at, SIZE, seed);
  return at;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  char *wiped = anonymous(1), *locked = anonymous(2);
  MUST(!madvise(wiped, SIZE, MADV_WIPEONFORK) && !mlock(locked, SIZE));
  int sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
  MUST(sealed >= 0 && write(sealed, "sealed", 6) == 6 && !ftruncate(sealed, 8192) && !fchmod(sealed, 0640) &&
       !fcntl(sealed, F_ADD_SEALS, seals));
  char *view = mmap(NULL, 8192, PROT_READ, MAP_SHARED, sealed, 0);
  MUST(view != MAP_FAILED);
  long kb = locked_kb();
  feature_ready();
  while (!feature_finishing()) {
    check_pattern(wiped, SIZE, 1, "memory that is wiped in children");
    check_pattern(locked, SIZE, 2, "locked memory");
    CHECK(locked_kb() == kb, "%ld KiB were locked, now %ld", kb, locked_kb());
    CHECK(!memcmp(view, "sealed", 7), "a sealed memfd has other contents");
    CHECK(fcntl(sealed, F_GET_SEALS) == seals, "the seals are %#x, not %#x", fcntl(sealed, F_GET_SEALS), seals);
    struct stat stat;
    CHECK(!fstat(sealed, &stat) && (stat.st_mode & 0777) == 0640, "the memfd's mode is %o", stat.st_mode);
    pause_ms(5);
  }
  return feature_pass();
}
