/* Rings of system calls with nothing in flight: of each kind, with what they have registered, and with completions that
 * nobody has taken and entries that nobody has submitted. */
#include "ring.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

static const unsigned KINDS[] = {
    0,
    IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
    IORING_SETUP_SQPOLL,
    IORING_SETUP_SQE128,
    IORING_SETUP_CQE32,
    IORING_SETUP_SQE128 | IORING_SETUP_CQE32 | IORING_SETUP_NO_SQARRAY,
    IORING_SETUP_NO_SQARRAY,
};
enum { COUNT = sizeof KINDS / sizeof *KINDS, DATA = 4096, QUEUED = 3 };

static struct ring rings[COUNT], kept, told, large;
static bool made[COUNT];
static char fixed[2][DATA] __attribute__((aligned(4096)));
static int file, event;

static void make(void) {
  for (unsigned i = 0; i < COUNT; i++) {
    made[i] = ring_make(&rings[i], 8, KINDS[i]);
    for (unsigned n = 0; made[i] && n < 100 + i; n++) ring_nothing(&rings[i]);
  }
  MUST(made[0] && ring_make(&kept, 4, 0) && ring_make(&told, 4, 0) && ring_make(&large, 32768, 0));
  for (int i = 0; i < QUEUED; i++) /* completions that wait, and entries that wait */
    ring_queue(&kept, (struct io_uring_sqe){.opcode = IORING_OP_NOP});
  ring_enter(&kept, QUEUED, QUEUED);
  ring_queue(&kept, (struct io_uring_sqe){.opcode = IORING_OP_NOP});
  for (int n = 0; n < 10000; n++) ring_nothing(&large);
}

static void register_all(void) {
  struct iovec buffers[] = {{fixed[0], DATA}, {fixed[1], DATA}};
  MUST(syscall(SYS_io_uring_register, rings[0].fd, IORING_REGISTER_BUFFERS, buffers, 2) == 0);
  event = eventfd(0, EFD_NONBLOCK);
  MUST(event >= 0 && syscall(SYS_io_uring_register, told.fd, IORING_REGISTER_EVENTFD, &event, 1) == 0);
  file = open(scratch("data"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  MUST(file >= 0);
}

/* Writes to the file and reads back, through a ring. */
static void transfer(struct ring *ring, uint64_t round, bool registered) {
  uint64_t plain[2][DATA / 8];
  char *out = registered ? fixed[0] : (char *)plain[0], *in = registered ? fixed[1] : (char *)plain[1];
  memset(out, (int)(round & 0x7f), DATA);
  memset(in, 0x80, DATA);
  int result = ring_call(ring, (struct io_uring_sqe){.opcode = registered ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE,
                                                     .fd = file,
                                                     .addr = (uint64_t)out,
                                                     .len = DATA});
  CHECK(result == DATA, "wrote %d bytes (flags 0x%x)", result, ring->with.flags);
  result = ring_call(ring, (struct io_uring_sqe){.opcode = registered ? IORING_OP_READ_FIXED : IORING_OP_READ,
                                                 .fd = file,
                                                 .addr = (uint64_t)in,
                                                 .len = DATA,
                                                 .buf_index = registered});
  CHECK(result == DATA && !memcmp(in, out, DATA), "read %d bytes (flags 0x%x)", result, ring->with.flags);
}

static void events(void) {
  uint64_t value = 0;
  CHECK(read(event, &value, 8) == -1 && errno == EAGAIN, "the eventfd tells of %lu completions", value);
  ring_nothing(&told);
  CHECK(read(event, &value, 8) == 8 && value == 1, "the eventfd tells of %lu completions, not of one", value);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  make();
  register_all();
  int watch = epoll_create1(0);
  struct epoll_event readable = {.events = EPOLLIN, .data.u64 = 77};
  MUST(watch >= 0 && epoll_ctl(watch, EPOLL_CTL_ADD, kept.fd, &readable) == 0);
  feature_ready();
  for (uint64_t round = 0; !feature_finishing(); round++) {
    for (unsigned i = 0; i < COUNT; i++)
      if (made[i]) transfer(&rings[i], round + i, false);
    transfer(&rings[0], round, true);
    events();
    ring_nothing(&large);
    readable.data.u64 = 0;
    CHECK(epoll_wait(watch, &readable, 1, 0) == 1 && readable.data.u64 == 77, "completions are not readable");
    pause_ms(2);
  }
  for (int i = 0; i < QUEUED; i++) CHECK(ring_take(&kept) == 0, "a completion that waited");
  CHECK(epoll_wait(watch, &readable, 1, 0) == 0, "completions are readable that were taken");
  ring_enter(&kept, 1, 1);
  CHECK(ring_take(&kept) == 0, "an entry that waited");
  ring_nothing(&kept);
  check_flags(kept.fd, O_RDWR, FD_CLOEXEC, "io_uring");
  return feature_pass();
}
