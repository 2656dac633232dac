/* Open files whose name is gone: content, offset, growth, a mapping of one, and a name that is reused. */
#include "feature.h"
#include <sys/mman.h>

enum { BYTES = 50000 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned char content[BYTES], got[BYTES];
  fill_pattern(content, BYTES, 80);
  int fd = open_scratch("deleted", O_RDWR | O_CREAT | O_EXCL),
      mapped = open_scratch("mapped", O_RDWR | O_CREAT | O_EXCL);
  MUST(write(fd, content, BYTES) == BYTES && write(mapped, content, BYTES) == BYTES);
  int second = dup(fd), reader = open_scratch("deleted", O_RDONLY | O_CLOEXEC);
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
  MUST(memory != MAP_FAILED && !close(mapped));
  MUST(!unlink(scratch("deleted")) && !unlink(scratch("mapped")));
  int reused = open_scratch("deleted", O_RDWR | O_CREAT | O_EXCL);
  MUST(write(reused, "another file", 12) == 12);
  MUST(lseek(fd, 777, SEEK_SET) == 777 && lseek(reader, 4242, SEEK_SET) == 4242);
  feature_ready();
  uint64_t n = 0;
  for (; !feature_finishing(); n++) {
    struct stat status, other, again;
    CHECK(lseek(second, 0, SEEK_CUR) == 777 && lseek(reader, 0, SEEK_CUR) == 4242, "an offset moved");
    CHECK(pread(reader, got, BYTES, 0) == BYTES && !memcmp(got, content, BYTES), "the deleted file's content changed");
    do { /* a restart gives the file another inode: both have to be looked at in one incarnation */
      MUST(!fstat(fd, &status) && !fstat(reader, &other) && !fstat(fd, &again));
    } while (again.st_ino != status.st_ino);
    CHECK(status.st_ino == other.st_ino && status.st_dev == other.st_dev,
          "two descriptors of one deleted file became two files");
    CHECK(status.st_nlink == 0, "the deleted file has a name again");
    CHECK(status.st_size == (off_t)(BYTES + n * 8), "the deleted file has %ld bytes, not %lu", (long)status.st_size,
          BYTES + n * 8);
    MUST(pwrite(fd, &n, 8, BYTES + n * 8) == 8);
    check_pattern(memory, n % 2 ? BYTES / 2 : BYTES, n % 2 ? 90 : n ? 81 : 80, "mapping of a deleted file");
    fill_pattern(memory, BYTES, n % 2 ? 81 : 90);
    pause_ms(2);
  }
  check_flags(reader, O_RDONLY, FD_CLOEXEC, "reader");
  CHECK(pread(reused, got, BYTES, 0) == 12 && !memcmp(got, "another file", 12),
        "the file that reuses the name changed");
  for (uint64_t i = 0; i < n; i++) {
    uint64_t value;
    CHECK(pread(second, &value, 8, BYTES + i * 8) == 8 && value == i, "word %lu of the deleted file is %lu", i, value);
  }
  return feature_pass();
}
