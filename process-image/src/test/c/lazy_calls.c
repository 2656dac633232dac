/* The kernel reads and writes the job's memory for its system calls: it waits for missing pages, and gives no EFAULT.
 */
#include "blocks.h"
#include <linux/futex.h>
#include <sys/uio.h>

static unsigned char *blocks;
static int pipe_ends[2];

static unsigned char *block(int b) {
  return blocks + (size_t)b * BLOCK;
}

static void through_pipe(int from, int to) {
  MUST(write(pipe_ends[1], block(from), BLOCK / 8) == BLOCK / 8);
  for (ssize_t done = 0, n; done < BLOCK / 8; done += n) {
    n = read(pipe_ends[0], block(to) + done, BLOCK / 8 - done);
    CHECK(n > 0, "read into block %d gave %zd", to, n);
  }
  CHECK(!memcmp(block(to), block(from), BLOCK / 8), "bytes changed on their way");
  fill_pattern(block(to), BLOCK, 1000 + to);
}

static void from_file(int fd, int to) {
  struct iovec parts[2] = {{block(to) + 3 * PAGE, PAGE}, {block(to) + 40 * PAGE + 5, 2 * PAGE}};
  CHECK(preadv(fd, parts, 2, 0) == 3 * PAGE, "preadv");
  check_pattern(block(to), PAGE, 1000 + to, "block beside what was read");
  fill_pattern(block(to), BLOCK, 1000 + to);
}

static void others(int b) {
  unsigned char copy[PAGE];
  struct iovec mine = {copy, PAGE}, its = {block(b) + 9 * PAGE, PAGE};
  CHECK(process_vm_readv(getpid(), &mine, 1, &its, 1, 0) == PAGE, "process_vm_readv");
  uint32_t word;
  memcpy(&word, block(b) + 20 * PAGE, sizeof word);
  struct timespec soon = {0, 1000};
  CHECK(syscall(SYS_futex, block(b) + 20 * PAGE, FUTEX_WAIT, word, &soon, NULL, 0) < 0 &&
            (errno == ETIMEDOUT || errno == EINTR),
        "futex");
  CHECK(!mlock(block(b) + 30 * PAGE, 2 * PAGE) && !munlock(block(b) + 30 * PAGE, 2 * PAGE), "mlock");
  MUST(!mprotect(block(b) + 50 * PAGE, PAGE, PROT_READ) &&
       !mprotect(block(b) + 50 * PAGE, PAGE, PROT_READ | PROT_WRITE));
  check_pattern(block(b), BLOCK, 1000 + b, "block");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  blocks = map_blocks();
  int fd = open_scratch("bytes", O_RDWR | O_CREAT | O_EXCL);
  MUST(write(fd, blocks, 3 * PAGE) == 3 * PAGE && !pipe(pipe_ends));
  feature_ready();
  for (uint64_t state = 8; !feature_finishing(); pause_ms(2)) {
    int a = next_random(&state) % BLOCKS, b = next_random(&state) % BLOCKS;
    if (a != b) through_pipe(a, b);
    from_file(fd, next_random(&state) % BLOCKS);
    others(next_random(&state) % BLOCKS);
  }
  for (int b = 0; b < BLOCKS; b++) check_pattern(block(b), BLOCK, 1000 + b, "block");
  return feature_pass();
}
