/* Rings of threads and of two processes: one that only its thread may use, one on which a thread sleeps, and one that a
 * child has inherited with its memory. */
#include "ring.h"
#include <sys/wait.h>

static struct ring single, slept, inherited;
static _Atomic int asked, answered;
static _Atomic bool single_made;

static void *issuer(void *unused) {
  bool is = ring_make(&single, 8, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
  single_made = true;
  while (!feature_over && is) {
    ring_nothing(&single);
    pause_ms(1);
  }
  return unused;
}

/* Sleeps in the kernel until the main thread has something completed. */
static void *sleeper(void *unused) {
  uint32_t *head = ring_at(&slept, slept.with.cq_off.head), *tail = ring_at(&slept, slept.with.cq_off.tail);
  for (;;) {
    long result = syscall(SYS_io_uring_enter, slept.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    CHECK(result == 0, "io_uring_enter that waits gave %ld", result);
    CHECK(__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head + 1, "woken for %u completions", *tail - *head);
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    answered++;
    if (feature_over) return unused;
  }
}

static void wake(void) {
  asked++;
  ring_queue(&slept, (struct io_uring_sqe){.opcode = IORING_OP_NOP});
  ring_enter(&slept, 1, 0);
  for (int i = 0; answered != asked; i++) {
    CHECK(i < 20000, "nobody took completion %d", asked);
    pause_ms(1);
  }
}

/* Parent and child take turns, by a byte in a pipe each: the ring's user_data counts for both. */
static void turn(int from, int to) {
  uint64_t number;
  MUST(read(from, &number, sizeof number) == sizeof number);
  inherited.sent = inherited.seen = number;
  ring_nothing(&inherited);
  number++;
  MUST(write(to, &number, sizeof number) == sizeof number);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(ring_make(&slept, 4, 0) && ring_make(&inherited, 16, 0));
  MUST(fcntl(inherited.fd, F_SETFD, 0) == 0);
  int down[2], up[2];
  MUST(pipe(down) == 0 && pipe(up) == 0);
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    close(down[1]);
    for (;;) {
      uint64_t number;
      ssize_t got = read(down[0], &number, sizeof number);
      if (got == 0) _exit(0);
      inherited.sent = inherited.seen = number;
      ring_nothing(&inherited);
      number++;
      MUST(write(up[1], &number, sizeof number) == sizeof number);
    }
  }
  close(down[0]);
  pthread_t threads[] = {start_thread(issuer, NULL), start_thread(sleeper, NULL)};
  while (!single_made) pause_ms(1);
  feature_ready();
  for (uint64_t number = 0; !feature_finishing(); number++) {
    MUST(write(down[1], &number, sizeof number) == sizeof number);
    turn(up[0], down[1]);
    MUST(read(up[0], &number, sizeof number) == sizeof number);
    wake();
    pause_ms(2);
  }
  feature_over = true;
  wake();
  join_thread(threads[0]);
  join_thread(threads[1]);
  close(down[1]);
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with 0x%x", status);
  return feature_pass();
}
