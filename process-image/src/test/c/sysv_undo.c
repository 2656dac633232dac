/* SEM_UNDO: what a process has taken comes back when it ends, also after a restart, and once only. */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

enum { LOCK, GIVEN, GO, SEMAPHORES, FULL = 9 };
static int set;

static void change(int number, int by, int flags) {
  struct sembuf operation = {(unsigned short)number, (short)by, (short)flags};
  CHECK(!semop(set, &operation, 1), "semop %+d on semaphore %d", by, number);
}

static void *take(void *unused) {
  change(LOCK, -2, SEM_UNDO);
  return NULL;
}

/* Has taken 5 of the lock in two threads, given back 1, and will take back what it has given. */
static void hold(void) {
  feature_child();
  change(LOCK, -3, SEM_UNDO);
  join_thread(start_thread(take, NULL));
  change(LOCK, 1, SEM_UNDO);
  change(GIVEN, 6, SEM_UNDO);
  change(GIVEN, 20, 0);
  change(GO, 1, 0);
  for (;;) pause_ms(50);
}

static void expect(int number, int value, const char *when) {
  CHECK(semctl(set, number, GETVAL) == value, "semaphore %d is %d %s, not %d", number, semctl(set, number, GETVAL),
        when, value);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  set = semget(0x75640000 | (getpid() & 0xffff), SEMAPHORES, IPC_CREAT | IPC_EXCL | 0600);
  MUST(set >= 0);
  MUST(!semctl(set, LOCK, SETVAL, FULL));
  change(LOCK, -1, SEM_UNDO); /* a child does not inherit it */
  pid_t holder = fork();
  if (!holder) hold();
  change(GO, -1, 0);
  feature_ready();
  while (!feature_finishing()) {
    expect(LOCK, FULL - 5, "while it is held");
    expect(GIVEN, 26, "while it is held");
    change(LOCK, -1, SEM_UNDO);
    change(LOCK, 1, SEM_UNDO);
    pause_ms(3);
  }
  MUST(!kill(holder, SIGKILL));
  int status;
  CHECK(waitpid(holder, &status, 0) == holder && WIFSIGNALED(status), "the holder ended with %#x", status);
  expect(LOCK, FULL - 1, "when the holder has ended");
  expect(GIVEN, 20, "when the holder has ended");
  pid_t last = fork(); /* neither has this one */
  if (!last) _exit(0);
  CHECK(waitpid(last, &status, 0) == last && status == 0, "the last child ended with %#x", status);
  expect(LOCK, FULL - 1, "after a child that has taken nothing");
  MUST(!semctl(set, 0, IPC_RMID));
  return feature_pass();
}
