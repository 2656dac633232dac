/*
 * libudckpt-agent.so: system calls in a process that shares the JVM's memory and descriptors, and is in other
 * namespaces. No thread of a JVM can enter a user namespace: setns(2) lets only a process with one thread.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/raw_call.h"

enum { STACK = 16 << 10, IDLE = 0, CALL = 1, DONE = 2, END = 3, MANY = -1 };

/* One at a time. Known to Java (CallingProcess). */
struct calls {
  atomic_int turn;
  int pid;
  long number;
  long arguments[6];
  long result;
  long parent;
};

/* Of MANY, whose arguments are the address of the first, and how many. Known to Java (CallingProcess). */
struct one_of_many {
  long number;
  long arguments[6];
  long result;
};

/* Until the turn is another one; now and then, so that nobody waits for who is gone. */
static void await_other(struct calls *calls, int turn) {
  struct timespec second = {.tv_sec = 1};
  raw_call(SYS_futex, (long)&calls->turn, FUTEX_WAIT, turn, (long)&second, 0, 0);
}

static void pass(struct calls *calls, int turn) {
  atomic_store(&calls->turn, turn);
  raw_call(SYS_futex, (long)&calls->turn, FUTEX_WAKE, 1, 0, 0, 0);
}

__attribute__((no_stack_protector)) static void make_many(struct one_of_many *all, long count) {
  for (struct one_of_many *one = all; one < all + count; one++) {
    long *a = one->arguments;
    one->result = raw_call(one->number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

/* Has the stack pointer of its own, and the thread pointer of the thread that made it: nothing of libc's here. */
__attribute__((no_stack_protector)) static int serve(void *from) {
  struct calls *calls = from;
  int turn;
  while ((turn = atomic_load(&calls->turn)) != END && raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0) == calls->parent) {
    if (turn == CALL) {
      long *a = calls->arguments;
      if (calls->number == MANY) make_many((struct one_of_many *)a[0], a[1]);
      else calls->result = raw_call(calls->number, a[0], a[1], a[2], a[3], a[4], a[5]);
      pass(calls, DONE);
    } else {
      await_other(calls, turn);
    }
  }
  return 0;
}

/* A new process in the namespaces of this one, its memory at the returned address; or -errno. */
__attribute__((visibility("default"))) long udckpt_agent_calls_begin(void) {
  char *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -errno;
  struct calls *calls = (struct calls *)memory;
  calls->parent = getpid();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before); /* handlers are the JVM's */
  int pid = clone(serve, memory + STACK, CLONE_VM | CLONE_FILES, calls), error = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (pid < 0) {
    munmap(memory, STACK);
    return -error;
  }
  calls->pid = pid;
  return (long)calls;
}

/* Makes the call that stands there; waits for its end. -ESRCH: the process is gone. */
__attribute__((visibility("default"))) long udckpt_agent_calls_make(long at) {
  struct calls *calls = (struct calls *)at;
  pass(calls, CALL);
  while (atomic_load(&calls->turn) == CALL) {
    await_other(calls, CALL);
    if (atomic_load(&calls->turn) == CALL && (!calls->pid || waitpid(calls->pid, NULL, WNOHANG | __WALL))) {
      calls->pid = 0;
      return -ESRCH;
    }
  }
  atomic_store(&calls->turn, IDLE);
  return calls->result;
}

/* Ends the process. */
__attribute__((visibility("default"))) long udckpt_agent_calls_end(long at) {
  struct calls *calls = (struct calls *)at;
  pass(calls, END);
  while (calls->pid && waitpid(calls->pid, NULL, __WALL) < 0 && errno == EINTR) continue;
  munmap(calls, STACK);
  return 0;
}
