/* Thread-local storage: static TLS, pthread keys and errno belong to their thread, at their old addresses. */
#include "feature.h"

static __thread uint64_t initialised = 0x1122334455667788;
static __thread uint64_t zeroed[64];
static pthread_key_t key;
static _Atomic int destroyed;

static void destroy(void *value) {
  destroyed++;
  free(value);
}

static void *worker(void *argument) {
  uint64_t me = (uint64_t)argument, *address = &initialised;
  CHECK(initialised == 0x1122334455667788 && !zeroed[63], "fresh TLS is not fresh");
  uint64_t *slot = malloc(sizeof *slot);
  *slot = me;
  OK(pthread_setspecific(key, slot));
  initialised = me << 32;
  for (uint64_t n = 0; !feature_over; n++) {
    errno = (int)me + 100;
    zeroed[n % 64] = initialised ^ n;
    for (volatile int i = 0; i < 2000; i++) {
    }
    CHECK(errno == (int)me + 100, "errno of thread %lu became %d", me, errno);
    CHECK(address == &initialised, "TLS moved");
    CHECK(initialised == me << 32 && zeroed[n % 64] == (me << 32 ^ n), "TLS of thread %lu changed", me);
    CHECK(pthread_getspecific(key) == slot && *slot == me, "the key of thread %lu changed", me);
    if (n % 32 == 0) pause_ms(1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  OK(pthread_key_create(&key, destroy));
  pthread_t threads[6];
  for (uint64_t i = 0; i < 6; i++) threads[i] = start_thread(worker, (void *)(i + 1));
  feature_ready();
  while (!feature_finishing()) {
    CHECK(initialised == 0x1122334455667788, "TLS of the main thread changed");
    pause_ms(5);
  }
  for (int i = 0; i < 6; i++) join_thread(threads[i]);
  CHECK(destroyed == 6, "%d key destructors ran", (int)destroyed);
  return feature_pass();
}
