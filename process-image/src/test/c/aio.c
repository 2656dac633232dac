/* Asynchronous I/O of the kernel: contexts with nothing in flight, one with events that nobody has taken and a ring
 * that has wrapped around, one that reads and writes all the time, one that is destroyed and made again. */
#include "feature.h"
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { BLOCK = 4096, WAITING = 3 };

struct aio_ring { /* fs/aio.c: what libaio reads past the kernel */
  unsigned id, nr, head, tail, magic;
};

static int file;
static char out[BLOCK], in[BLOCK];

static aio_context_t context(unsigned requests) {
  aio_context_t made = 0;
  CHECK(syscall(SYS_io_setup, requests, &made) == 0, "io_setup");
  return made;
}

static void submit(aio_context_t to, uint64_t number, int operation, void *buffer, uint64_t bytes) {
  struct iocb request = {.aio_data = number,
                         .aio_lio_opcode = (uint16_t)operation,
                         .aio_fildes = (uint32_t)file,
                         .aio_buf = (uint64_t)buffer,
                         .aio_nbytes = bytes};
  struct iocb *list[] = {&request};
  CHECK(syscall(SYS_io_submit, to, 1, list) == 1, "io_submit");
}

static void take(aio_context_t from, uint64_t number, int64_t result) {
  struct io_event event = {0};
  CHECK(syscall(SYS_io_getevents, from, 1, 1, &event, NULL) == 1, "io_getevents");
  CHECK(event.data == number && event.res == result, "event %llu with %lld, not %lu with %ld", event.data, event.res,
        number, result);
}

static void transfer(aio_context_t by, uint64_t round) {
  memset(out, (int)(round & 0x7f), BLOCK);
  memset(in, 0x80, BLOCK);
  submit(by, round, IOCB_CMD_PWRITE, out, BLOCK);
  take(by, round, BLOCK);
  submit(by, round + 1, IOCB_CMD_PREAD, in, BLOCK);
  take(by, round + 1, BLOCK);
  CHECK(!memcmp(in, out, BLOCK), "round %lu reads something else", round);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  file = open(scratch("data"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  MUST(file >= 0);
  aio_context_t idle = context(1), busy = context(64), waiting = context(8), passing = context(4);
  volatile struct aio_ring *ring = (struct aio_ring *)waiting;
  unsigned most = ring->nr;
  uint64_t sent = 0, seen = 0;
  for (unsigned i = 0; i < most + most / 2; i++) {
    submit(waiting, sent++, IOCB_CMD_PREAD, in, 0);
    take(waiting, seen++, 0);
  }
  for (int i = 0; i < WAITING; i++) submit(waiting, sent++, IOCB_CMD_PREAD, in, 0);
  unsigned head = ring->head, tail = ring->tail;
  pid_t child = fork(); /* a child has its parent's notes, and no contexts */
  MUST(child >= 0);
  if (child == 0) {
    feature_child();
    const aio_context_t parents[] = {idle, busy, waiting, passing}; /* its own memory of them would come back empty */
    for (unsigned i = 0; i < 4; i++)
      MUST(munmap((void *)parents[i], (((struct aio_ring *)parents[i])->nr * 32UL + 32 + 4095) & ~4095UL) == 0);
    aio_context_t own = context(16);
    for (uint64_t round = 0; !feature_finishing(); round += 2) {
      submit(own, round, IOCB_CMD_PREAD, in, 0);
      take(own, round, 0);
      pause_ms(2);
    }
    _exit(0);
  }
  feature_ready();
  for (uint64_t round = 0; !feature_finishing(); round += 2) {
    transfer(busy, round);
    CHECK(ring->head == head && ring->tail == tail && ring->nr == most, "the ring is at %u to %u, not %u to %u",
          ring->head, ring->tail, head, tail);
    MUST(syscall(SYS_io_destroy, passing) == 0);
    passing = context(4);
    transfer(passing, round);
    pause_ms(2);
  }
  for (int i = 0; i < WAITING; i++) take(waiting, seen++, 0);
  for (unsigned i = 0; i < 2 * most; i++) {
    submit(waiting, sent++, IOCB_CMD_PREAD, in, 0);
    take(waiting, seen++, 0);
  }
  struct io_event none;
  struct timespec now = {0};
  CHECK(syscall(SYS_io_getevents, idle, 0, 1, &none, &now) == 0, "an event of an idle context");
  submit(idle, 7, IOCB_CMD_PREAD, in, 0);
  take(idle, 7, 0);
  MUST(syscall(SYS_io_destroy, waiting) == 0);
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with 0x%x", status);
  return feature_pass();
}
