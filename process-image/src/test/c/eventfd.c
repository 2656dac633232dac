/* eventfds: counter values, semaphore mode, flags, and traffic between threads. */
#include "feature.h"
#include <sys/eventfd.h>

static int to_worker, from_worker;

static void *worker(void *unused) {
  uint64_t value;
  for (;;) {
    ssize_t got = read(to_worker, &value, 8);
    CHECK(got == 8, "blocked read of an eventfd returned %zd", got);
    if (value == 1000000) return unused;
    value++;
    CHECK(write(from_worker, &value, 8) == 8, "write to an eventfd");
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  to_worker = eventfd(0, 0);
  from_worker = eventfd(0, EFD_CLOEXEC);
  int kept = eventfd(12345, EFD_NONBLOCK), semaphore = eventfd(3, EFD_SEMAPHORE | EFD_NONBLOCK);
  MUST(to_worker >= 0 && from_worker >= 0 && kept >= 0 && semaphore >= 0);
  pthread_t thread = start_thread(worker, NULL);
  feature_ready();
  uint64_t value;
  for (uint64_t n = 1; !feature_finishing(); n = n % 1000 + 1) {
    MUST(write(to_worker, &n, 8) == 8);
    CHECK(read(from_worker, &value, 8) == 8 && value == n + 1, "sent %lu, got %lu", n, value);
    pause_ms(2);
  }
  value = 1000000;
  MUST(write(to_worker, &value, 8) == 8);
  join_thread(thread);
  check_flags(to_worker, O_RDWR, 0, "eventfd");
  check_flags(from_worker, O_RDWR, FD_CLOEXEC, "eventfd");
  check_flags(kept, O_RDWR | O_NONBLOCK, 0, "eventfd");
  CHECK(read(kept, &value, 8) == 8 && value == 12345, "the kept value is %lu", value);
  CHECK(read(kept, &value, 8) == -1 && errno == EAGAIN, "an empty eventfd gave %lu", value);
  for (int i = 0; i < 3; i++)
    CHECK(read(semaphore, &value, 8) == 8 && value == 1, "semaphore step %d gave %lu", i, value);
  CHECK(read(semaphore, &value, 8) == -1 && errno == EAGAIN, "the semaphore has a fourth step");
  return feature_pass();
}
