/* Pipes keep the bytes in them, their capacity and flags; closed ends stay closed. */
#include "feature.h"
#include <poll.h>

typedef struct {
  int ends[2];
  int bytes;
} Filled;

static Filled fill(int flags, int capacity, int bytes, uint64_t seed) {
  Filled pipe_;
  MUST(!pipe2(pipe_.ends, flags));
  if (capacity) MUST(fcntl(pipe_.ends[1], F_SETPIPE_SZ, capacity) == capacity);
  unsigned char *buffer = malloc(bytes);
  fill_pattern(buffer, bytes, seed);
  for (int done = 0; done < bytes;) {
    int piece = bytes - done < 3000 ? bytes - done
                                    : 3000; /* a write that does not fit a page opens a new one: 48000 fill all 16 */
    MUST(write(pipe_.ends[1], buffer + done, piece) == piece);
    done += piece;
  }
  free(buffer);
  pipe_.bytes = bytes;
  return pipe_;
}

static void drain(Filled pipe_, uint64_t seed, const char *what) {
  unsigned char *buffer = malloc(pipe_.bytes + 10);
  int done = 0;
  while (done < pipe_.bytes) {
    ssize_t got = read(pipe_.ends[0], buffer + done, pipe_.bytes - done);
    CHECK(got > 0, "%s: %d of %d bytes, then %zd", what, done, pipe_.bytes, got);
    done += got;
  }
  check_pattern(buffer, pipe_.bytes, seed, what);
  struct pollfd poller = {pipe_.ends[0], POLLIN, 0};
  CHECK(poll(&poller, 1, 0) == 0, "%s: more bytes than were written", what);
  free(buffer);
}

static void *echo(void *argument) {
  int *ends = argument;
  uint64_t word;
  while (read(ends[0], &word, 8) == 8 && word != UINT64_MAX) {
    word = ~word;
    MUST(write(ends[1], &word, 8) == 8);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  Filled small = fill(0, 0, 10, 1), half = fill(O_NONBLOCK, 0, 30000, 2), full = fill(O_CLOEXEC, 0, 48000, 3),
         large = fill(0, 1 << 18, 150000, 4);
  Filled orphan = fill(0, 0, 500, 5);
  MUST(!close(orphan.ends[1]));
  int there[2], back[2];
  MUST(!pipe(there) && !pipe(back));
  int worker_ends[2] = {there[0], back[1]};
  pthread_t thread = start_thread(echo, worker_ends);
  feature_ready();
  uint64_t answer;
  for (uint64_t n = 0; !feature_finishing(); n++) {
    MUST(write(there[1], &n, 8) == 8);
    CHECK(read(back[0], &answer, 8) == 8 && answer == ~n, "sent %lu, got %lu", n, answer);
    if (n % 8 == 0) pause_ms(2);
  }
  answer = UINT64_MAX;
  MUST(write(there[1], &answer, 8) == 8);
  join_thread(thread);
  check_flags(half.ends[0], O_RDONLY | O_NONBLOCK, 0, "pipe");
  check_flags(half.ends[1], O_WRONLY | O_NONBLOCK, 0, "pipe");
  check_flags(full.ends[0], O_RDONLY, FD_CLOEXEC, "pipe");
  check_flags(small.ends[1], O_WRONLY, 0, "pipe");
  CHECK(fcntl(large.ends[0], F_GETPIPE_SZ) == 1 << 18, "the capacity became %d", fcntl(large.ends[0], F_GETPIPE_SZ));
  drain(small, 1, "small pipe"), drain(half, 2, "half full pipe"), drain(full, 3, "full pipe"),
      drain(large, 4, "large pipe");
  char byte;
  CHECK(read(half.ends[0], &byte, 1) == -1 && errno == EAGAIN, "an empty non-blocking pipe");
  unsigned char rest[600];
  CHECK(read(orphan.ends[0], rest, 600) == 500, "pipe without a writer");
  check_pattern(rest, 500, 5, "pipe without a writer");
  CHECK(read(orphan.ends[0], rest, 1) == 0, "a pipe without a writer does not end");
  return feature_pass();
}
