/* Mutexes: normal ones exclude, error-checking and recursive ones still know their owner's tid. */
#include "feature.h"

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static uint64_t left, right;

static void *worker(void *argument) {
  uint64_t mine = 0;
  while (!feature_over) {
    OK(pthread_mutex_lock(&normal));
    CHECK(left == right, "two threads were inside: %lu and %lu", left, right);
    left++;
    for (volatile int i = 0; i < 50; i++) {
    }
    right++;
    OK(pthread_mutex_unlock(&normal));
    mine++;
    if (mine % 500 == 0) pause_ms(1);
  }
  __atomic_add_fetch((uint64_t *)argument, mine, __ATOMIC_SEQ_CST);
  return NULL;
}

static void make(pthread_mutex_t *mutex, int kind) {
  pthread_mutexattr_t attributes;
  OK(pthread_mutexattr_init(&attributes));
  OK(pthread_mutexattr_settype(&attributes, kind));
  OK(pthread_mutex_init(mutex, &attributes));
}

static void *stranger(void *unused) {
  CHECK(pthread_mutex_trylock(&checking) == EBUSY, "a held mutex was free for another thread");
  CHECK(pthread_mutex_unlock(&checking) == EPERM, "another thread could unlock");
  CHECK(pthread_mutex_trylock(&recursive) == EBUSY, "a held recursive mutex was free for another thread");
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  make(&recursive, PTHREAD_MUTEX_RECURSIVE);
  make(&checking, PTHREAD_MUTEX_ERRORCHECK);
  OK(pthread_mutex_lock(&checking));
  OK(pthread_mutex_lock(&recursive));
  uint64_t total = 0;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(worker, &total);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(pthread_mutex_lock(&checking) == EDEADLK, "the owner was forgotten");
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_unlock(&recursive));
    join_thread(start_thread(stranger, NULL));
    pause_ms(5);
  }
  OK(pthread_mutex_unlock(&checking));
  OK(pthread_mutex_unlock(&recursive));
  CHECK(pthread_mutex_unlock(&recursive) == EPERM, "the recursion count changed");
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  CHECK(total == left && left == right, "%lu rounds, counters %lu and %lu", total, left, right);
  return feature_pass();
}
