/* A ring whose worker threads open, read and close files all the time, several at once: a stop comes in the middle of
 * some of them. Each file is read at the position of its descriptor. */
#include "ring.h"

enum { FILES = 24, ENTRIES = 32, WORD = 8 };
static struct ring ring;
static struct one {
  char path[PATH_MAX], text[WORD];
  int fd;
  uint64_t number; /* of its submission */
  enum { OPENING, READING, CLOSING } step;
} files[FILES];

static void next(int which) {
  struct one *one = &files[which];
  struct io_uring_sqe entry = {.flags = IOSQE_ASYNC, .fd = one->fd};
  if (one->step == OPENING) {
    entry.opcode = IORING_OP_OPENAT, entry.fd = AT_FDCWD, entry.addr = (uint64_t)one->path;
    entry.open_flags = O_RDONLY | O_CLOEXEC;
  } else if (one->step == READING) {
    entry.opcode = IORING_OP_READ, entry.addr = (uint64_t)one->text, entry.len = WORD / 2;
    entry.off = (uint64_t)-1; /* as read(2) */
  } else entry.opcode = IORING_OP_CLOSE;
  ring_queue(&ring, entry);
  one->number = ring.sent;
}

static void completed(int which, int result) {
  struct one *one = &files[which];
  char expected[WORD + 1];
  snprintf(expected, sizeof expected, "%08d", which * 1111);
  if (one->step == OPENING) {
    CHECK(result >= 0, "file %d is not opened: %d", which, result);
    one->fd = result, one->step = READING;
  } else if (one->step == READING) {
    off_t at = lseek(one->fd, 0, SEEK_CUR);
    CHECK(result == WORD / 2 && (at == WORD / 2 || at == WORD), "file %d: read %d, now at %ld", which, result,
          (long)at);
    CHECK(!memcmp(one->text, expected + at - WORD / 2, WORD / 2), "file %d, to %ld: %.4s", which, (long)at, one->text);
    one->step = at == WORD ? CLOSING : READING;
  } else {
    CHECK(result == 0, "file %d is not closed: %d", which, result);
    one->step = OPENING;
  }
}

static int take(void) {
  uint64_t number;
  int which = 0, result = ring_take_any(&ring, &number);
  while (which < FILES && files[which].number != number) which++;
  CHECK(which < FILES, "completion %lu", number);
  completed(which, result);
  return which;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(ring_make(&ring, ENTRIES, 0));
  for (int i = 0; i < FILES; i++) {
    char name[20];
    snprintf(name, sizeof name, "file-%d", i);
    snprintf(files[i].path, PATH_MAX, "%s", scratch(name));
    int fd = open(files[i].path, O_WRONLY | O_CREAT, 0600);
    MUST(fd >= 0 && dprintf(fd, "%08d", i * 1111) == WORD && !close(fd));
    next(i);
  }
  ring_enter(&ring, FILES, 0);
  feature_ready();
  while (!feature_finishing()) {
    next(take());
    ring_enter(&ring, 1, 1);
  }
  for (int i = 0; i < FILES; i++) take();
  return feature_pass();
}
