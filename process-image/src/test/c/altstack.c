/* Alternate signal stacks of several threads: registered, and used by handlers. */
#include "feature.h"

static __thread char *my_stack;
static __thread volatile int handled;
enum { STACK = 65536 };

static void handler(int signum) {
  char here;
  if (&here < my_stack || &here >= my_stack + STACK)
    FAIL("the handler runs at %p, its stack is %p", (void *)&here, (void *)my_stack);
  handled++;
}

static void use(void) {
  stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
  my_stack = stack.ss_sp;
  MUST(!sigaltstack(&stack, NULL));
  for (int n = 1; !feature_over; n++) {
    stack_t now;
    MUST(!sigaltstack(NULL, &now));
    CHECK(now.ss_sp == my_stack && now.ss_size == STACK && !(now.ss_flags & SS_DISABLE),
          "the alternate stack is %p, not %p", now.ss_sp, (void *)my_stack);
    OK(pthread_kill(pthread_self(), SIGUSR1));
    CHECK(handled == n, "%d signals were handled, %d sent", handled, n);
    pause_ms(3);
    if (syscall(SYS_gettid) == feature_pid) feature_finishing();
  }
}

static void *worker(void *unused) {
  use();
  return unused;
}

static void *without(void *unused) {
  while (!feature_over) {
    stack_t now;
    MUST(!sigaltstack(NULL, &now));
    CHECK(now.ss_flags & SS_DISABLE, "a thread without an alternate stack has one");
    pause_ms(3);
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL));
  pthread_t threads[] = {start_thread(worker, NULL), start_thread(worker, NULL), start_thread(without, NULL)};
  feature_ready();
  use();
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  return feature_pass();
}
