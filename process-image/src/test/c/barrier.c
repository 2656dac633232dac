/* Barriers: no thread is ever a round ahead of another. */
#include "feature.h"

enum { THREADS = 4 };
static pthread_barrier_t barrier;
static _Atomic uint64_t arrived[THREADS];
static _Atomic bool last_round;

static void *worker(void *argument) {
  long me = (long)argument;
  for (uint64_t round = 1;; round++) {
    arrived[me] = round;
    int result = pthread_barrier_wait(&barrier);
    CHECK(!result || result == PTHREAD_BARRIER_SERIAL_THREAD, "barrier: %s", strerror(result));
    for (int i = 0; i < THREADS; i++)
      CHECK(arrived[i] == round, "thread %d is in round %lu, thread %ld in %lu", i, arrived[i], me, round);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) last_round = feature_over;
    result = pthread_barrier_wait(&barrier);
    CHECK(!result || result == PTHREAD_BARRIER_SERIAL_THREAD, "barrier: %s", strerror(result));
    if (last_round) return NULL;
    if (me == 0 && round % 32 == 0) pause_ms(1);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  OK(pthread_barrier_init(&barrier, NULL, THREADS));
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) threads[i] = start_thread(worker, (void *)i);
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  OK(pthread_barrier_destroy(&barrier));
  return feature_pass();
}
