/* An io_uring: not captured; the checkpoint must be refused by name and the program go on unharmed. */
#include "feature.h"
#include <linux/io_uring.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct io_uring_params parameters = {0};
  int ring = (int)syscall(SYS_io_uring_setup, 8, &parameters);
  CHECK(ring >= 0, "io_uring_setup");
  size_t ring_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(uint32_t),
         cq_bytes = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
  char *sq = mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char *cq = mmap(NULL, cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe *entries =
      mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  MUST(sq != MAP_FAILED && cq != MAP_FAILED && entries != MAP_FAILED);
  feature_ready();
  for (uint64_t n = 1; !feature_finishing(); n++) {
    uint32_t *tail = (uint32_t *)(sq + parameters.sq_off.tail), mask = *(uint32_t *)(sq + parameters.sq_off.ring_mask),
             slot = *tail & mask;
    entries[slot] = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = n};
    ((uint32_t *)(sq + parameters.sq_off.array))[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    CHECK(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1, "io_uring_enter");
    uint32_t *head = (uint32_t *)(cq + parameters.cq_off.head),
             cq_mask = *(uint32_t *)(cq + parameters.cq_off.ring_mask);
    struct io_uring_cqe *completion = (struct io_uring_cqe *)(cq + parameters.cq_off.cqes) + (*head & cq_mask);
    CHECK(completion->user_data == n && completion->res == 0, "completion %llu, result %d, not %lu",
          completion->user_data, completion->res, n);
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    pause_ms(2);
  }
  return feature_pass();
}
