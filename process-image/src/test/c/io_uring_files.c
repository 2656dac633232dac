/* A ring with registered files: of sockets, pipes and files, with places that have none, changed, and more than a call
 * takes; by a thread of its own also the ring itself. */
#include "ring.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

enum { PLACES = 10000, SOCKET = 1, READ_END = 3, WRITE_END = 4, DATA = 5, LAST = 9999, BYTES = 512 };

static struct ring ring, sparse;
static int ends[2], pipes[2], file;
static atomic_bool over;

static int operate(struct ring *by, int opcode, int place, void *memory, unsigned bytes, uint64_t offset) {
  return ring_call(by, (struct io_uring_sqe){.opcode = (uint8_t)opcode,
                                             .flags = IOSQE_FIXED_FILE,
                                             .fd = place,
                                             .addr = (uint64_t)memory,
                                             .len = bytes,
                                             .off = offset});
}

static void make(void) {
  static int32_t files[PLACES];
  MUST(ring_make(&ring, 8, 0) && ring_make(&sparse, 8, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN));
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && pipe(pipes) == 0);
  file = open(scratch("data of a ring"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  MUST(file >= 0);
  for (int i = 0; i < PLACES; i++) files[i] = -1;
  files[SOCKET] = dup(ends[0]); /* its number is gone afterwards: a socket is known by its name */
  files[READ_END] = pipes[0];
  files[WRITE_END] = pipes[1];
  files[DATA] = pipes[1]; /* another one soon */
  MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, files, PLACES) == 0);
  close(files[SOCKET]);
  struct io_uring_files_update data = {.offset = DATA, .fds = (uint64_t)&file},
                               last = {.offset = LAST, .fds = (uint64_t)&file};
  MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES_UPDATE, &data, 1) == 1);
  MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES_UPDATE, &last, 1) == 1);

  struct io_uring_rsrc_register places = {.nr = 4, .flags = IORING_RSRC_REGISTER_SPARSE};
  MUST(syscall(SYS_io_uring_register, sparse.fd, IORING_REGISTER_FILES2, &places, sizeof places) == 0);
  struct io_uring_rsrc_update2 third = {.offset = 3, .data = (uint64_t)&file, .nr = 1};
  MUST(syscall(SYS_io_uring_register, sparse.fd, IORING_REGISTER_FILES_UPDATE2, &third, sizeof third) == 1);
}

static void round_of(uint64_t round) {
  char out[BYTES], in[BYTES];
  memset(out, (int)(round & 0x7f) + 1, BYTES);
  CHECK(operate(&ring, IORING_OP_WRITE, SOCKET, out, BYTES, 0) == BYTES, "a write to the socket");
  CHECK(read(ends[1], in, BYTES) == BYTES && !memcmp(in, out, BYTES), "what the socket's peer reads");
  CHECK(operate(&ring, IORING_OP_WRITE, WRITE_END, out, BYTES, 0) == BYTES, "a write to the pipe");
  CHECK(operate(&ring, IORING_OP_READ, READ_END, in, BYTES, 0) == BYTES && !memcmp(in, out, BYTES), "the pipe's bytes");
  CHECK(operate(&ring, IORING_OP_WRITE, LAST, out, BYTES, 8192) == BYTES, "a write by the last place");
  CHECK(operate(&sparse, IORING_OP_READ, 3, in, BYTES, 8192) == BYTES && !memcmp(in, out, BYTES), "the file's bytes");
  /* One open file: its position is everybody's. */
  MUST(lseek(file, (off_t)(round % 64), SEEK_SET) >= 0);
  CHECK(operate(&ring, IORING_OP_READ, DATA, in, 16, (uint64_t)-1) == 16, "a read at the position");
  off_t at = lseek(file, 0, SEEK_CUR);
  CHECK(at == (off_t)(round % 64) + 16, "the position is %ld in round %lu", (long)at, round);
  int result = operate(&ring, IORING_OP_READ, 0, in, BYTES, 0);
  CHECK(result == -EBADF, "a place without a file gave %d", result);
  result = operate(&sparse, IORING_OP_READ, 2, in, BYTES, 0);
  CHECK(result == -EBADF, "a place without a file gave %d in the other ring", result);
}

/* Its ring is known to it by a registration, at a place that it names. */
static void *registrar(void *unused) {
  (void)unused;
  struct ring own;
  MUST(ring_make(&own, 4, 0));
  struct io_uring_rsrc_update registration = {.offset = 5, .data = (uint64_t)own.fd};
  MUST(syscall(SYS_io_uring_register, own.fd, IORING_REGISTER_RING_FDS, &registration, 1) == 1);
  while (!over) {
    ring_queue(&own, (struct io_uring_sqe){.opcode = IORING_OP_NOP});
    long done = syscall(SYS_io_uring_enter, 5, 1, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING, NULL, 0);
    CHECK(done == 1, "io_uring_enter by registration took %ld", done);
    CHECK(ring_take(&own) == 0, "IORING_OP_NOP by registration");
    pause_ms(2);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  feature_start(argc, argv);
  make();
  CHECK(ftruncate(file, 16384) == 0, "ftruncate");
  MUST(pthread_create(&thread, NULL, registrar, NULL) == 0);
  feature_ready();
  for (uint64_t round = 0; !feature_finishing(); round++) {
    round_of(round);
    pause_ms(2);
  }
  over = true;
  MUST(pthread_join(thread, NULL) == 0);
  return feature_pass();
}
