/* A small io_uring, by system calls alone. */
#ifndef RING_H
#define RING_H
#include "feature.h"
#include <linux/io_uring.h>
#include <sys/mman.h>

#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

struct ring {
  struct io_uring_params with;
  int fd;
  char *queues, *entries;
  unsigned sqe_size, cqe_size;
  uint64_t sent, seen; /* user_data of the last submission, and of the last completion */
};

static inline uint32_t *ring_at(struct ring *ring, uint32_t offset) {
  return (uint32_t *)(ring->queues + offset);
}

/* False: this kernel has no such ring. */
static inline bool ring_make(struct ring *ring, unsigned entries, unsigned flags) {
  *ring = (struct ring){.with = {.flags = flags, .sq_thread_idle = 50}};
  ring->fd = (int)syscall(SYS_io_uring_setup, entries, &ring->with);
  if (ring->fd < 0 && errno == EINVAL) return false;
  CHECK(ring->fd >= 0, "io_uring_setup with flags 0x%x", flags);
  ring->sqe_size = flags & IORING_SETUP_SQE128 ? 128 : 64;
  ring->cqe_size = flags & IORING_SETUP_CQE32 ? 32 : 16;
  size_t bytes = ring->with.cq_off.cqes + ring->with.cq_entries * ring->cqe_size;
  size_t array = flags & IORING_SETUP_NO_SQARRAY ? 0 : ring->with.sq_off.array + ring->with.sq_entries * 4;
  ring->queues = mmap(NULL, bytes > array ? bytes : array, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
                      IORING_OFF_SQ_RING);
  ring->entries = mmap(NULL, ring->with.sq_entries * ring->sqe_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                       ring->fd, IORING_OFF_SQES);
  MUST(ring->queues != MAP_FAILED && ring->entries != MAP_FAILED);
  return true;
}

/* Puts an entry into the queue, which the kernel is not told. */
static inline void ring_queue(struct ring *ring, struct io_uring_sqe entry) {
  uint32_t *tail = ring_at(ring, ring->with.sq_off.tail);
  uint32_t slot = *tail & *ring_at(ring, ring->with.sq_off.ring_mask);
  entry.user_data = ++ring->sent;
  memcpy(ring->entries + (size_t)slot * ring->sqe_size, &entry, sizeof entry);
  if (!(ring->with.flags & IORING_SETUP_NO_SQARRAY)) ring_at(ring, ring->with.sq_off.array)[slot] = slot;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Submits what was queued, and waits for so many completions. */
static inline void ring_enter(struct ring *ring, unsigned submit, unsigned wait) {
  unsigned flags = wait ? IORING_ENTER_GETEVENTS : 0;
  if (ring->with.flags & IORING_SETUP_SQPOLL &&
      __atomic_load_n(ring_at(ring, ring->with.sq_off.flags), __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
    flags |= IORING_ENTER_SQ_WAKEUP;
  long done = syscall(SYS_io_uring_enter, ring->fd, submit, wait, flags, NULL, 0);
  CHECK(done == (long)submit, "io_uring_enter of %u took %ld (flags 0x%x)", submit, done, ring->with.flags);
}

/* The next result, and of which submission it is. */
static inline int ring_take_any(struct ring *ring, uint64_t *number) {
  uint32_t *head = ring_at(ring, ring->with.cq_off.head), *tail = ring_at(ring, ring->with.cq_off.tail);
  for (int i = 0; __atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head; i++) {
    CHECK(i < 20000, "no completion after %lu (flags 0x%x)", ring->seen, ring->with.flags);
    ring_enter(ring, 0, 1);
    pause_ms(1);
  }
  uint32_t slot = *head & *ring_at(ring, ring->with.cq_off.ring_mask);
  struct io_uring_cqe *one =
      (struct io_uring_cqe *)(ring->queues + ring->with.cq_off.cqes + (size_t)slot * ring->cqe_size);
  *number = one->user_data;
  int result = one->res;
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
  return result;
}

/* Its result; completions come in order. */
static inline int ring_take(struct ring *ring) {
  uint64_t number;
  int result = ring_take_any(ring, &number);
  CHECK(number == ring->seen + 1, "completion %lu after %lu (flags 0x%x)", number, ring->seen, ring->with.flags);
  ring->seen++;
  return result;
}

static inline int ring_call(struct ring *ring, struct io_uring_sqe entry) {
  ring_queue(ring, entry);
  ring_enter(ring, 1, 1);
  return ring_take(ring);
}

static inline void ring_nothing(struct ring *ring) {
  int result = ring_call(ring, (struct io_uring_sqe){.opcode = IORING_OP_NOP});
  CHECK(result == 0, "IORING_OP_NOP gave %d (flags 0x%x)", result, ring->with.flags);
}
#endif
