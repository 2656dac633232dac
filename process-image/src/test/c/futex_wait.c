/* futex(2) itself: waits without end, with relative and absolute limits, bitsets, a priority-inheritance owner. */
#include "feature.h"
#include <linux/futex.h>

static _Atomic uint32_t gate, idle, pi, turn;

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *limit, uint32_t mask) {
  return syscall(SYS_futex, word, operation, value, limit, NULL, mask);
}

static void *endless(void *unused) {
  while (!gate) {
    long result = futex(&gate, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
    CHECK(!result || errno == EAGAIN, "an endless futex wait returned %ld", result);
  }
  return unused;
}

static void *limited(void *unused) {
  while (!feature_over) {
    int64_t start = now_ns();
    CHECK(futex(&idle, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, 100000000}, 0) == -1 && errno == ETIMEDOUT,
          "a limited futex wait ended otherwise");
    CHECK(now_ns() - start >= 100000000, "a limited futex wait ended early");
    int64_t until = now_ns() + 100000000;
    CHECK(futex(&idle, FUTEX_WAIT_BITSET, 0, &(struct timespec){until / 1000000000, until % 1000000000}, 0x10) == -1 &&
              errno == ETIMEDOUT,
          "an absolute futex wait ended otherwise");
    CHECK(now_ns() >= until, "an absolute futex wait ended early");
  }
  return unused;
}

static void *ping(void *unused) {
  for (uint32_t n = 1; !feature_over; n += 2) {
    while (turn != n && !feature_over) {
      long result = futex(&turn, FUTEX_WAIT, n - 1, NULL, 0);
      CHECK(!result || errno == EAGAIN, "a futex wait returned %ld", result);
    }
    turn = n + 1;
    futex(&turn, FUTEX_WAKE, 1, NULL, 0);
  }
  return unused;
}

static void *wants_pi(void *unused) {
  CHECK(!futex(&pi, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
  CHECK((pi & FUTEX_TID_MASK) == (uint32_t)syscall(SYS_gettid), "the PI futex has another owner");
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  CHECK(!futex(&pi, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
  pthread_t threads[] = {start_thread(endless, NULL), start_thread(limited, NULL), start_thread(ping, NULL),
                         start_thread(wants_pi, NULL)};
  feature_ready();
  for (uint32_t n = 0; !feature_finishing(); n += 2) {
    turn = n + 1;
    futex(&turn, FUTEX_WAKE, 1, NULL, 0);
    for (int i = 0; turn != n + 2; i++) {
      CHECK(i < 4000, "the other thread does not answer");
      pause_ms(1);
    }
    CHECK((pi & FUTEX_TID_MASK) == (uint32_t)feature_tid, "the PI futex has another owner");
    pause_ms(2);
  }
  gate = 1;
  futex(&gate, FUTEX_WAKE_PRIVATE, 1, NULL, 0);
  turn++;
  futex(&turn, FUTEX_WAKE, 10, NULL, 0);
  CHECK(!futex(&pi, FUTEX_UNLOCK_PI, 0, NULL, 0), "FUTEX_UNLOCK_PI");
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  return feature_pass();
}
