/* Processes that have one memory (clone(2), CLONE_VM) with their parent: a child with handlers, descriptors and a
 * directory of its own; its child; one that has all of its parent's, and a thread; and a child with a copy of the
 * memory. What one writes, maps or handles, exactly those have. All have the thread-local storage of the first thread:
 * the others make no call that uses it. */
#include "feature.h"
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { MEMORY, BELOW, EVERYTHING, COPY, ALL };
enum { STACK = 64 << 10, PAGE = 4096, NONE = 0 };
static const int flags[ALL] = {CLONE_VM, CLONE_VM | CLONE_FS, CLONE_VM | CLONE_SIGHAND | CLONE_FILES | CLONE_FS, 0};
/* where the first process changes it, and the child below it does */
static const bool sees_handlers[ALL] = {false, false, true, false};

static char stacks[ALL + 1][STACK] __attribute__((aligned(16)));
static _Atomic int round_now, done[ALL], pids[ALL], spins;
static _Atomic long fresh, published;
static _Atomic int failed;
static _Atomic bool over;

static void rest(void) {
  struct timespec some = {0, 1000000};
  syscall(SYS_nanosleep, &some, NULL);
}

static void handler_one(int signal) {
  (void)signal;
}

static void handler_two(int signal) {
  (void)signal;
}

/* rt_sigaction(2): as the kernel has it */
static void *handler_of(int signal) {
  struct {
    void *handler;
    unsigned long flags, restorer, mask;
  } action = {0};
  if (syscall(SYS_rt_sigaction, signal, NULL, &action, 8)) failed = __LINE__;
  return action.handler;
}

static void *expected_handler(int round) {
  return (void *)(round % 2 ? handler_one : handler_two);
}

static void answer(int which, int round) {
  long *page = (long *)fresh;
  if (*page != round) failed = __LINE__;
  page[1 + which] = round;
  if ((handler_of(SIGUSR1) == expected_handler(round)) != sees_handlers[which] && round > 2) failed = __LINE__;
  if (which == BELOW) {
    long mapped = syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped < 0 && mapped > -PAGE) failed = __LINE__;
    *(long *)mapped = round;
    published = mapped;
  }
  done[which] = round;
}

static int spin(void *unused) {
  (void)unused;
  for (; !over; rest()) spins++;
  return 0;
}

static int serve(void *argument);

static void begin(int which) {
  static int numbers[ALL] = {MEMORY, BELOW, EVERYTHING, COPY};
  int pid = clone(serve, stacks[which] + STACK, flags[which] | SIGCHLD, &numbers[which]);
  if (pid < 0) failed = __LINE__;
  while (!pids[which] && !failed && which != COPY) rest();
}

static void end(int which) {
  int status = 1;
  if (syscall(SYS_wait4, pids[which], &status, 0, NULL) != pids[which] || status) failed = __LINE__;
}

/* Its memory is as it was when it was made. */
static void copy_is(const char *name, int round) {
  while (syscall(SYS_access, name, F_OK)) {
    if (round_now != round) failed = __LINE__;
    rest();
  }
  syscall(SYS_exit_group, failed ? 1 : 0);
}

static int serve(void *argument) {
  int which = *(int *)argument, before = round_now;
  if (which == COPY) copy_is(scratch("finish"), before);
  if (which == MEMORY) {
    if (signal(SIGUSR1, SIG_IGN) == SIG_ERR) failed = __LINE__;
    begin(BELOW);
  }
  if (which == EVERYTHING &&
      clone(spin, stacks[ALL] + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
            NULL) < 0)
    failed = __LINE__;
  int own = (int)syscall(SYS_getpid);
  pids[which] = own;
  for (; !over; rest()) {
    if (syscall(SYS_getpid) != own) failed = __LINE__;
    int round = round_now;
    if (round != before) answer(which, round), before = round;
  }
  if (which == MEMORY) end(BELOW);
  syscall(SYS_exit_group, failed ? 1 : 0);
  return 0;
}

static bool same(pid_t other, int what) {
  long result = syscall(SYS_kcmp, feature_pid, other, what, 0, 0);
  CHECK(result >= 0, "kcmp with %d", other);
  return result == 0;
}

static void check_relations(void) {
  for (int i = 0; i < COPY; i++) {
    CHECK(same(pids[i], KCMP_VM), "the memory of %d", i);
    CHECK(same(pids[i], KCMP_SIGHAND) == !!(flags[i] & CLONE_SIGHAND), "the handlers of %d", i);
    CHECK(same(pids[i], KCMP_FILES) == !!(flags[i] & CLONE_FILES), "the descriptors of %d", i);
    CHECK(same(pids[i], KCMP_FS) == (i == EVERYTHING), "the directory of %d", i);
  }
}

static bool play(int round) {
  long *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(page != MAP_FAILED);
  page[0] = round;
  MUST(signal(SIGUSR1, expected_handler(round)) != SIG_ERR);
  fresh = (long)page;
  published = NONE;
  int spun = spins;
  round_now = round;
  for (int i = 0; i < COPY; i++) {
    while (done[i] != round || spins == spun) {
      CHECK(!failed, "line %d", failed);
      if (feature_finishing()) return false;
      pause_ms(1);
    }
    CHECK(page[1 + i] == round, "%d wrote %ld in round %d", i, page[1 + i], round);
  }
  long *theirs = (long *)published;
  CHECK(theirs && *theirs == round, "the page that a grandchild has mapped");
  MUST(!munmap(theirs, PAGE) && !munmap(page, PAGE));
  return true;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int round = 1;
  round_now = round++;
  begin(MEMORY);
  begin(EVERYTHING);
  pid_t copy = clone(serve, stacks[COPY] + STACK, SIGCHLD, &(int){COPY});
  MUST(copy > 0 && play(round++));
  feature_ready();
  do check_relations();
  while (play(round++) && !feature_finishing());
  over = true;
  pids[COPY] = copy;
  end(MEMORY), end(EVERYTHING), end(COPY);
  CHECK(!failed, "line %d", failed);
  return feature_pass();
}
