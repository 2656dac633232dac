/* Condition variables: a bounded queue loses and doubles nothing; timed waits never end early. */
#include "feature.h"

enum { SLOTS = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, timed_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER, never;
static uint64_t slots[SLOTS], head, tail;
static bool closed;

static void *producer(void *unused) {
  for (uint64_t sequence = 0; !feature_over; sequence++) {
    OK(pthread_mutex_lock(&lock));
    while (head - tail == SLOTS) OK(pthread_cond_wait(&emptied, &lock));
    slots[head++ % SLOTS] = sequence;
    OK(pthread_cond_signal(&filled));
    OK(pthread_mutex_unlock(&lock));
    if (sequence % 64 == 0) pause_ms(1);
  }
  OK(pthread_mutex_lock(&lock));
  closed = true;
  OK(pthread_cond_broadcast(&filled));
  OK(pthread_mutex_unlock(&lock));
  return unused;
}

static void *consumer(void *unused) {
  for (uint64_t expected = 0;; expected++) {
    OK(pthread_mutex_lock(&lock));
    while (head == tail && !closed) OK(pthread_cond_wait(&filled, &lock));
    if (head == tail) break;
    uint64_t got = slots[tail++ % SLOTS];
    OK(pthread_cond_signal(&emptied));
    OK(pthread_mutex_unlock(&lock));
    CHECK(got == expected, "item %lu came where %lu was due", got, expected);
  }
  OK(pthread_mutex_unlock(&lock));
  return unused;
}

static void *timed(void *unused) {
  while (!feature_over) {
    OK(pthread_mutex_lock(&timed_lock));
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 30000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    int error;
    do error = pthread_cond_timedwait(&never, &timed_lock, &until);
    while (!error); /* spurious wake-ups are allowed */
    CHECK(error == ETIMEDOUT, "timed wait: %s", strerror(error));
    CHECK(now_ns() >= until.tv_sec * 1000000000LL + until.tv_nsec, "timed wait ended early");
    OK(pthread_mutex_unlock(&timed_lock));
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_condattr_t attributes;
  OK(pthread_condattr_init(&attributes));
  OK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
  OK(pthread_cond_init(&never, &attributes));
  pthread_t threads[] = {start_thread(consumer, NULL), start_thread(producer, NULL), start_thread(timed, NULL)};
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  CHECK(head > 0 && head == tail, "%lu items put, %lu taken", head, tail);
  return feature_pass();
}
