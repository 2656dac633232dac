/* A file that is rewritten in place, shrunk and grown: after a restore it has the content of the checkpoint. */
#include "feature.h"

enum { BLOCKS = 32, BLOCK = 4096 };
static uint64_t versions[BLOCKS];

static void check_block(int fd, int block) {
  unsigned char got[BLOCK];
  CHECK(pread(fd, got, BLOCK, block * BLOCK) == BLOCK, "block %d is not there", block);
  check_pattern(got, BLOCK, versions[block] * BLOCKS + block, "block of table.data");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = open_scratch("table.data", O_RDWR | O_CREAT | O_EXCL),
      resized = open_scratch("resized.data", O_RDWR | O_CREAT | O_EXCL);
  unsigned char buffer[BLOCK];
  for (int b = 0; b < BLOCKS; b++) {
    fill_pattern(buffer, BLOCK, b);
    MUST(pwrite(fd, buffer, BLOCK, b * BLOCK) == BLOCK);
  }
  feature_ready();
  uint64_t state = 5;
  for (uint64_t n = 0; !feature_finishing(); n++) {
    int block = next_random(&state) % BLOCKS;
    check_block(fd, block);
    versions[block]++;
    fill_pattern(buffer, BLOCK, versions[block] * BLOCKS + block);
    MUST(pwrite(fd, buffer, BLOCK, block * BLOCK) == BLOCK);
    struct stat status;
    off_t size = n % 50 * 100;
    if (n) {
      MUST(!fstat(resized, &status));
      CHECK(status.st_size == (off_t)((n - 1) % 50 * 100), "resized.data has %ld bytes in round %lu",
            (long)status.st_size, n);
    }
    MUST(!ftruncate(resized, size));
    pause_ms(2);
  }
  for (int b = 0; b < BLOCKS; b++) check_block(fd, b);
  struct stat status;
  MUST(!fstat(fd, &status));
  CHECK(status.st_size == BLOCKS * BLOCK, "table.data has %ld bytes", (long)status.st_size);
  return feature_pass();
}
