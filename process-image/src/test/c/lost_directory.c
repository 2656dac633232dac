/* A file that was deleted with its directory, and one whose directory's directory has gone too: open, mapped,
 * read-only. And one whose directory cannot be written to any more. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/stat.h>

enum { BYTES = 20000 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("gone"), 0700) && !mkdir(scratch("gone/deeper"), 0755));
  int fd = open_scratch("gone/file", O_RDWR | O_CREAT | O_EXCL), reader = open_scratch("gone/file", O_RDONLY);
  int deeper = open_scratch("gone/deeper/file", O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  unsigned char content[BYTES], got[BYTES];
  fill_pattern(content, BYTES, 1);
  MUST(write(fd, content, BYTES) == BYTES && write(deeper, content, BYTES) == BYTES);
  unsigned char *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, deeper, 0);
  MUST(mapped != MAP_FAILED);
  MUST(!unlink(scratch("gone/deeper/file")) && !rmdir(scratch("gone/deeper")) && !unlink(scratch("gone/file")) &&
       !rmdir(scratch("gone")));
  MUST(!mkdir(scratch("closed"), 0700));
  int closed = open_scratch("closed/file", O_RDWR | O_CREAT | O_EXCL);
  MUST(write(closed, content, BYTES) == BYTES && !unlink(scratch("closed/file")) && !chmod(scratch("closed"), 0500));
  MUST(lseek(reader, 4242, SEEK_SET) == 4242);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(pread(reader, got, BYTES, 0) == BYTES && !memcmp(got, content, BYTES),
          "the content of a file whose directory has gone");
    CHECK(lseek(reader, 0, SEEK_CUR) == 4242, "its offset");
    check_pattern(mapped, BYTES, 1, "a mapping of a file whose directories have gone");
    CHECK(pread(closed, got, BYTES, 0) == BYTES && !memcmp(got, content, BYTES),
          "the content of a file whose directory is closed");
    struct stat stat;
    CHECK(!fstat(closed, &stat) && !stat.st_nlink, "a deleted file of a closed directory has a name again");
    CHECK(!fstat(fd, &stat) && !stat.st_nlink && !fstat(deeper, &stat) && !stat.st_nlink,
          "a deleted file has a name again");
    CHECK(access(scratch("gone"), F_OK) && errno == ENOENT, "a directory that was removed is there again");
    pause_ms(3);
  }
  MUST(!chmod(scratch("closed"), 0700) && !rmdir(scratch("closed")));
  return feature_pass();
}
