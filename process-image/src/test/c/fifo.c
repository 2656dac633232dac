/* A named pipe with bytes in it, its ends opened separately, and a blocked reader of a second one. */
#include "feature.h"

static int idle[2];

static void *blocked(void *unused) {
  char byte;
  CHECK(read(idle[0], &byte, 1) == 1 && byte == 'e' && feature_over, "a blocked read of a fifo returned");
  return unused;
}

static void open_both(const char *name, int *ends) {
  MUST(!mkfifo(scratch(name), 0600));
  ends[0] = open_scratch(name, O_RDONLY | O_NONBLOCK);
  ends[1] = open_scratch(name, O_WRONLY | O_CLOEXEC);
  MUST(!fcntl(ends[0], F_SETFL, 0));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int ends[2];
  unsigned char content[10000], got[10000];
  open_both("fifo", ends), open_both("idle", idle);
  int both = open_scratch("fifo", O_RDWR);
  fill_pattern(content, sizeof content, 20);
  MUST(write(ends[1], content, sizeof content) == sizeof content);
  pthread_t thread = start_thread(blocked, NULL);
  feature_ready();
  uint64_t n = 0;
  for (; !feature_finishing(); n++) { /* takes the first kilobyte and puts it at the end */
    CHECK(read(ends[0], got, 1000) == 1000 && !memcmp(got, content + n % 10 * 1000, 1000), "kilobyte %lu is wrong", n);
    MUST(write(n % 2 ? ends[1] : both, got, 1000) == 1000);
    pause_ms(2);
  }
  for (int i = 0; i < 10; i++, n++)
    CHECK(read(ends[0], got, 1000) == 1000 && !memcmp(got, content + n % 10 * 1000, 1000), "kilobyte %lu is wrong", n);
  check_flags(ends[0], O_RDONLY, 0, "reader"), check_flags(ends[1], O_WRONLY, FD_CLOEXEC, "writer"),
      check_flags(both, O_RDWR, 0, "both");
  struct stat status;
  CHECK(!fstat(ends[0], &status) && S_ISFIFO(status.st_mode) && status.st_nlink == 1, "the fifo has lost its name");
  int late = open_scratch("fifo", O_WRONLY | O_NONBLOCK); /* the name leads to the same pipe */
  CHECK(write(late, "z", 1) == 1 && read(ends[0], got, 1) == 1 && got[0] == 'z', "the name leads to another pipe");
  MUST(write(idle[1], "e", 1) == 1);
  join_thread(thread);
  return feature_pass();
}
