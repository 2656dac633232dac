/* memfds: content, offset, seals, flags, a shared mapping, a second open through /proc. */
#include "feature.h"
#include <sys/mman.h>

enum { BYTES = 40000 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned char content[BYTES], got[BYTES];
  fill_pattern(content, BYTES, 30);
  int plain = memfd_create("plain", 0), sealed = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  MUST(write(plain, content, BYTES) == BYTES && write(sealed, content, BYTES) == BYTES);
  MUST(!fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
  MUST(lseek(plain, 1234, SEEK_SET) == 1234);
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, plain, 0), path[64];
  MUST(memory != MAP_FAILED);
  snprintf(path, sizeof path, "/proc/self/fd/%d", plain);
  int second = open(path, O_RDONLY);
  MUST(second >= 0 && lseek(second, 99, SEEK_SET) == 99);
  feature_ready();
  uint64_t n = 30;
  for (; !feature_finishing(); n++) {
    check_pattern(memory, BYTES, n, "mapped memfd");
    CHECK(pread(second, got, BYTES, 0) == BYTES, "the second open is short");
    check_pattern(got, BYTES, n, "second open");
    fill_pattern(memory, BYTES, n + 1);
    CHECK(lseek(plain, 0, SEEK_CUR) == 1234 && lseek(second, 0, SEEK_CUR) == 99, "an offset moved");
    CHECK(pread(sealed, got, BYTES, 0) == BYTES && !memcmp(got, content, BYTES), "the sealed memfd changed");
    pause_ms(2);
  }
  check_flags(plain, O_RDWR, 0, "plain"), check_flags(sealed, O_RDWR, FD_CLOEXEC, "sealed"),
      check_flags(second, O_RDONLY, 0, "second");
  CHECK(fcntl(sealed, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), "the seals are %#x",
        fcntl(sealed, F_GET_SEALS));
  CHECK(pwrite(sealed, "x", 1, 0) == -1 && errno == EPERM, "a sealed memfd can be written");
  CHECK(fcntl(plain, F_GET_SEALS) == F_SEAL_SEAL, "the plain memfd has seals %#x", fcntl(plain, F_GET_SEALS));
  return feature_pass();
}
