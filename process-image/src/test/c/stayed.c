/* A child that stayed in the first session, while its parent and its grandparent made their own after it was there. */
#include "feature.h"
#include <sys/wait.h>

static void stay(int ready, int until, pid_t parent) {
  pid_t session = getsid(0), group = getpgrp();
  char byte = 'r';
  feature_child();
  MUST(write(ready, &byte, 1) == 1);
  MUST(fcntl(until, F_SETFL, O_NONBLOCK) == 0);
  while (read(until, &byte, 1) != 0) {
    CHECK(getppid() == parent && getsid(0) == session && getpgrp() == group,
          "parent %d, session %d became %d, group %d became %d", getppid(), session, getsid(0), group, getpgrp());
    pause_ms(3);
  }
  if (access(scratch("finish"), F_OK)) pause_ms(1000); /* the driver kills them one after the other */
}

static void await_up(int ready) {
  char byte;
  MUST(read(ready, &byte, 1) == 1);
}

static void await_end(pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "child %d ended with %#x", child, status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int until[2], up[3][2];
  MUST(!pipe(until) && !pipe(up[0]) && !pipe(up[1]) && !pipe(up[2]));
  pid_t first = getsid(0), self = getpid(), grandparent = fork();
  MUST(grandparent >= 0);
  if (!grandparent) {
    close(until[1]);
    pid_t own = getpid(), parent = fork();
    MUST(parent >= 0);
    if (!parent) {
      pid_t parent_pid = getpid(), child = fork();
      MUST(child >= 0);
      if (!child) {
        CHECK(getsid(0) == first, "it is in session %d, not %d", getsid(0), first);
        stay(up[2][1], until[0], parent_pid);
        _exit(0);
      }
      await_up(up[2][0]);
      MUST(setsid() == getpid());
      stay(up[1][1], until[0], own);
      await_end(child);
      _exit(0);
    }
    await_up(up[1][0]);
    MUST(setsid() == getpid());
    stay(up[0][1], until[0], self);
    await_end(parent);
    _exit(0);
  }
  await_up(up[0][0]);
  feature_ready();
  while (!feature_finishing()) pause_ms(3);
  close(until[1]);
  await_end(grandparent);
  return feature_pass();
}
