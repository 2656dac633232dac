/* Read-write locks: readers never see a half-done write, and a lock held over the checkpoint stays held. */
#include "feature.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER, held = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t values[8];
static _Atomic uint64_t reads, writes;

static void *reader(void *unused) {
  while (!feature_over) {
    OK(pthread_rwlock_rdlock(&lock));
    for (int i = 1; i < 8; i++)
      CHECK(values[i] == values[0], "value %d is %lu, value 0 is %lu", i, values[i], values[0]);
    OK(pthread_rwlock_unlock(&lock));
    if (++reads % 300 == 0) pause_ms(1);
  }
  return unused;
}

static void *writer(void *unused) {
  while (!feature_over) {
    OK(pthread_rwlock_wrlock(&lock));
    for (int i = 0; i < 8; i++) values[i]++;
    OK(pthread_rwlock_unlock(&lock));
    if (++writes % 50 == 0) pause_ms(1);
  }
  return unused;
}

static void *stranger(void *unused) {
  CHECK(pthread_rwlock_tryrdlock(&held) == EBUSY, "a write-locked lock let a reader in");
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  OK(pthread_rwlock_wrlock(&held));
  pthread_t threads[] = {start_thread(reader, NULL), start_thread(reader, NULL), start_thread(writer, NULL),
                         start_thread(writer, NULL)};
  feature_ready();
  while (!feature_finishing()) {
    join_thread(start_thread(stranger, NULL));
    pause_ms(5);
  }
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  OK(pthread_rwlock_unlock(&held));
  OK(pthread_rwlock_tryrdlock(&held));
  CHECK(values[0] == writes && reads > 0, "%lu writes, counter %lu", (unsigned long)writes, values[0]);
  return feature_pass();
}
