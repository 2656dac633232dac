/* Files: offsets of readers and writers, append mode, and no memory of a future that was undone.
 * The driver appends to and overwrites *.data after the checkpoint, on purpose, before it restores. */
#include "feature.h"

enum { INPUT = 1 << 20, RECORD = 64, FIXED = 256 };

static void record(unsigned char *buffer, uint64_t n, uint64_t kind) {
  fill_pattern(buffer, RECORD, n * 4 + kind);
  memcpy(buffer, &n, 8);
}

static void check_size(int fd, uint64_t records, const char *what) {
  struct stat status;
  MUST(!fstat(fd, &status));
  CHECK((uint64_t)status.st_size == records * RECORD, "%s: %ld bytes, but %lu were written", what, (long)status.st_size,
        records * RECORD);
}

static void check_records(const char *name, uint64_t count, uint64_t kind) {
  int fd = open_scratch(name, O_RDONLY);
  unsigned char got[RECORD], want[RECORD];
  for (uint64_t n = 0; n < count; n++) {
    CHECK(read(fd, got, RECORD) == RECORD, "%s ends at record %lu", name, n);
    record(want, n, kind);
    CHECK(!memcmp(got, want, RECORD), "%s: record %lu is wrong", name, n);
  }
  CHECK(read(fd, got, 1) == 0, "%s is longer than what was written", name);
  close(fd);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned char *content = malloc(INPUT), buffer[RECORD];
  fill_pattern(content, INPUT, 9);
  int create = open_scratch("input", O_WRONLY | O_CREAT | O_EXCL);
  MUST(write(create, content, INPUT) == INPUT);
  MUST(!close(create));
  int input = open_scratch("input", O_RDONLY | O_CLOEXEC);
  int written = open_scratch("written.data", O_RDWR | O_CREAT | O_EXCL);
  int appended = open_scratch("appended.data", O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  int both = open_scratch("input", O_RDONLY);
  MUST(lseek(both, 12345, SEEK_SET) == 12345);
  FILE *stream = fopen(scratch("stream.data"), "w+");
  MUST(stream);
  feature_ready();
  uint64_t n = 0;
  size_t position = 0;
  for (; !feature_finishing(); n++) {
    if (position == INPUT) {
      MUST(lseek(input, 0, SEEK_SET) == 0);
      position = 0;
    }
    CHECK(read(input, buffer, RECORD) == RECORD && !memcmp(buffer, content + position, RECORD),
          "the input at %zu is wrong", position);
    position += RECORD;
    CHECK(lseek(both, 0, SEEK_CUR) == 12345, "an idle descriptor moved to %ld", (long)lseek(both, 0, SEEK_CUR));
    record(buffer, n, 1);
    check_size(written, n, "written.data"), check_size(appended, n, "appended.data");
    CHECK(lseek(written, 0, SEEK_CUR) == (off_t)(n * RECORD), "the writer's offset is %ld",
          (long)lseek(written, 0, SEEK_CUR));
    MUST(write(written, buffer, RECORD) == RECORD);
    record(buffer, n, 2);
    MUST(write(appended, buffer, RECORD) == RECORD);
    record(buffer, n, 3);
    MUST(fwrite(buffer, RECORD, 1, stream) == 1); /* part of it stays in the buffer of stdio */
    pause_ms(1);
  }
  MUST(!fclose(stream));
  check_flags(input, O_RDONLY, FD_CLOEXEC, "input");
  check_flags(appended, O_WRONLY | O_APPEND, 0, "appended.data");
  check_records("written.data", n, 1), check_records("appended.data", n, 2), check_records("stream.data", n, 3);
  return feature_pass();
}
