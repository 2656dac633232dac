/* Threads keep tid, pthread_self, stack contents and registers; new ones can be made and joined at any time. */
#include "feature.h"

static _Atomic uint64_t rounds[4];

static void *worker(void *argument) {
  long index = (long)argument;
  Identity me = identity();
  unsigned char on_stack[4096];
  fill_pattern(on_stack, sizeof on_stack, index + 1);
  uint64_t state = index + 77, replay;
  for (uint64_t n = 0; !feature_over; n++) {
    replay = state;
    for (int i = 0; i < 2000; i++) next_random(&state);
    for (int i = 0; i < 2000; i++) next_random(&replay);
    CHECK(state == replay, "thread %ld computed two different values", index);
    check_identity(&me);
    check_pattern(on_stack, sizeof on_stack, index + 1, "stack");
    rounds[index] = n;
    if (n % 16 == 0) pause_ms(1);
  }
  return argument;
}

static void *short_lived(void *argument) {
  return (char *)argument + 1;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) threads[i] = start_thread(worker, (void *)i);
  feature_ready();
  while (!feature_finishing()) {
    void *answer;
    pthread_t brief = start_thread(short_lived, &answer);
    OK(pthread_join(brief, &answer));
    CHECK(answer == (char *)&answer + 1, "a new thread returned %p", answer);
    pause_ms(5);
  }
  for (long i = 0; i < 4; i++) {
    void *answer;
    OK(pthread_join(threads[i], &answer));
    CHECK(answer == (void *)i, "thread %ld returned %p", i, answer);
    CHECK(rounds[i] > 0, "thread %ld never worked", i);
  }
  return feature_pass();
}
