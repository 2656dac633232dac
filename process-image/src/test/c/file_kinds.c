/* Files that cannot simply be opened again: nameless, forbidden by their mode, not to be followed, mapped and written
 * at once; FIFOs. */
#include "feature.h"
#include <sys/mman.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned char bytes[8192], again[8192];
  int nameless = open(feature_scratch, O_TMPFILE | O_RDWR, 0600);
  int forbidden = open(scratch("forbidden"), O_RDWR | O_CREAT | O_EXCL, 0400);
  int appended = open(scratch("appended"), O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0000);
  int plain = open(scratch("plain.data"), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  MUST(nameless >= 0 && forbidden >= 0 && appended >= 0 && plain >= 0);
  fill_pattern(bytes, sizeof bytes, 5);
  MUST(write(nameless, bytes, 8192) == 8192 && write(plain, bytes, 8192) == 8192);
  char *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, plain, 0);
  MUST(private != MAP_FAILED);
  private[0] ^= 1;
  MUST(!mkfifo(scratch("lonely"), 0600) && !mkfifo(scratch("gone"), 0600));
  int lonely = open(scratch("lonely"), O_RDONLY | O_NONBLOCK), gone = open(scratch("gone"), O_RDWR);
  MUST(lonely >= 0 && gone >= 0 && write(gone, "kept", 4) == 4 && !unlink(scratch("gone")));
  feature_ready();
  int n = 0;
  for (; !feature_finishing(); n++) {
    int shown;
    MUST(pwrite(plain, &n, 4, 4096) == 4 && pwrite(forbidden, &n, 4, 0) == 4 && write(appended, &n, 4) == 4);
    memcpy(&shown, private + 4096, 4);
    CHECK(shown == n, "a clean page of a private mapping shows %d, not %d", shown, n);
    CHECK(private[0] == (char)(bytes[0] ^ 1), "a dirty page of a private mapping changed");
    CHECK(pread(nameless, again, 8192, 0) == 8192 && !memcmp(bytes, again, 8192), "a nameless file changed");
    CHECK(read(lonely, again, 1) == 0, "a FIFO that nobody writes to");
    pause_ms(2);
  }
  struct stat stat;
  CHECK(!fstat(forbidden, &stat) && (stat.st_mode & 0777) == 0400, "mode 0400 became %o", stat.st_mode & 0777);
  CHECK(!fstat(appended, &stat) && (stat.st_mode & 0777) == 0 && stat.st_size == 4 * n,
        "mode 0 became %o, %d bytes became %ld", stat.st_mode & 0777, 4 * n, (long)stat.st_size);
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", nameless);
  CHECK(!linkat(AT_FDCWD, link, AT_FDCWD, scratch("named"), AT_SYMLINK_FOLLOW),
        "a nameless file cannot be given a name");
  CHECK(read(gone, again, 8) == 4 && !memcmp(again, "kept", 4), "a FIFO without a name lost its contents");
  int writer = open(scratch("lonely"), O_WRONLY | O_NONBLOCK);
  CHECK(writer >= 0 && write(writer, "x", 1) == 1 && read(lonely, again, 1) == 1,
        "a FIFO's reader is not its reader any more");
  return feature_pass();
}
