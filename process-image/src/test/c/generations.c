/* Sessions and groups made by several generations: a child that stayed in the first session while its parent and
 * grandparent made their own; orphans with children from before their setsid; a subreaper that got children from
 * sessions that have lost their leaders, or have not; a group that its leader has left; ended children among them. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MOST = 24 };

typedef struct {
  struct {
    _Atomic pid_t pid, parent, group, session;
  } places[MOST];
  _Atomic int settled, stop;
} Shared;

static Shared *shared;
static pid_t shepherd;

static void stay(int index) {
  feature_child();
  shared->places[index].pid = getpid();
  while (!shared->settled) pause_ms(1);
  pause_ms(50);
  pid_t parent = getppid(), group = getpgrp(), session = getsid(0);
  shared->places[index].parent = parent;
  shared->places[index].group = group;
  shared->places[index].session = session;
  while (!shared->stop) {
    pid_t now = getppid();
    if (now != parent) pause_ms(1000); /* the driver kills them one after the other */
    CHECK(now == parent, "process %d: parent %d became %d", index, parent, now);
    CHECK(getpgrp() == group && getsid(0) == session, "process %d: group %d became %d, session %d became %d", index,
          group, getpgrp(), session, getsid(0));
    pause_ms(3);
  }
  _exit(index);
}

static void await_up(int index) {
  for (int i = 0; !shared->places[index].pid; i++) {
    CHECK(i < 10000, "process %d does not come", index);
    pause_ms(1);
  }
}

static pid_t begin(int index) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (!pid) stay(index);
  await_up(index);
  return pid;
}

/* first session: [0 grandparent, own session] -> [1 parent, own session] -> [2 child, first session] and [3 child of
 * 1's session] and one that has ended in the first */
static void generations(void) {
  if (fork()) return;
  if (!fork()) {
    begin(2);
    pid_t ended = fork();
    if (!ended) _exit(4);
    siginfo_t info;
    MUST(!waitid(P_PID, ended, &info, WEXITED | WNOWAIT));
    MUST(setsid() == getpid());
    begin(3);
    stay(1);
  }
  await_up(1);
  MUST(setsid() == getpid());
  stay(0);
}

/* An orphan that leads a session and has a child from before, in the first session. */
static void orphan(void) {
  pid_t middle = fork();
  if (!middle) {
    if (!fork()) {
      begin(5);
      MUST(setsid() == getpid());
      stay(4);
    }
    await_up(4);
    _exit(0);
  }
  MUST(waitpid(middle, NULL, 0) == middle);
}

/* [6 subreaper] gets 7 and 8 of a session whose leader has gone, 8 in a group of its own; and 10, of 9's session, whose
 * leader is there */
static void subreaper(void) {
  if (fork()) return;
  MUST(!prctl(PR_SET_CHILD_SUBREAPER, 1));
  pid_t leader = fork();
  if (!leader) {
    MUST(setsid() == getpid());
    begin(7);
    if (!fork()) {
      MUST(!setpgid(0, 0));
      stay(8);
    }
    await_up(8);
    _exit(0);
  }
  MUST(waitpid(leader, NULL, 0) == leader);
  if (!fork()) {
    MUST(setsid() == getpid());
    pid_t middle = fork();
    if (!middle) {
      begin(10);
      _exit(0);
    }
    MUST(waitpid(middle, NULL, 0) == middle);
    stay(9);
  }
  await_up(9);
  stay(6);
}

/* 11 led a group that 12 is in, and has joined 13's; 14 and 15 are in a group whose leader has gone, 14 below another
 * parent */
static void groups(void) {
  int go[2];
  char byte;
  MUST(!pipe(go));
  pid_t former = fork();
  if (!former) {
    MUST(!setpgid(0, 0));
    MUST(read(go[0], &byte, 1) == 1);
    MUST(!setpgid(0, shared->places[13].pid));
    stay(11);
  }
  while (getpgid(former) != former) pause_ms(1);
  if (!fork()) {
    MUST(!setpgid(0, former));
    stay(12);
  }
  await_up(12);
  if (!fork()) {
    MUST(!setpgid(0, 0));
    stay(13);
  }
  await_up(13);
  MUST(write(go[1], "g", 1) == 1);
  await_up(11);
  pid_t leader = fork();
  if (!leader) {
    MUST(!setpgid(0, 0));
    MUST(read(go[0], &byte, 1) == 1);
    _exit(0);
  }
  while (getpgid(leader) != leader) pause_ms(1);
  if (!fork()) {
    if (!fork()) {
      MUST(!setpgid(0, leader));
      stay(14);
    }
    await_up(14);
    MUST(!setpgid(0, leader));
    stay(15);
  }
  await_up(15);
  MUST(write(go[1], "g", 1) == 1 && waitpid(leader, NULL, 0) == leader);
  close(go[0]), close(go[1]);
}

/* [16, own session] has an ended child that led a session, in which its orphan 17 still is */
static void ended_leader(void) {
  if (fork()) return;
  MUST(setsid() == getpid());
  pid_t leader = fork();
  if (!leader) {
    MUST(setsid() == getpid());
    begin(17);
    _exit(6);
  }
  siginfo_t info;
  MUST(!waitid(P_PID, leader, &info, WEXITED | WNOWAIT));
  stay(16);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(shared != MAP_FAILED);
  shepherd = getppid();
  generations(), orphan(), subreaper(), groups(), ended_leader();
  for (int i = 0; i < 18; i++) await_up(i);
  shared->settled = 1;
  for (int i = 0; i < 18; i++)
    while (!shared->places[i].session) pause_ms(1);
  CHECK(shared->places[2].session == getsid(0) && shared->places[5].session == getsid(0),
        "the child has not stayed in the first session");
  CHECK(shared->places[7].parent == shared->places[6].pid && shared->places[10].parent == shared->places[6].pid,
        "the subreaper has not got its children");
  CHECK(shared->places[11].group == shared->places[13].pid && shared->places[12].group == shared->places[11].pid,
        "the former leader has not left its group");
  pid_t self = getpid(), session = getsid(0), group = getpgrp();
  feature_ready();
  while (!feature_finishing()) {
    CHECK(getpid() == self && getsid(0) == session && getpgrp() == group, "session %d became %d, group %d became %d",
          session, getsid(0), group, getpgrp());
    for (int i = 0; i < 18; i++)
      CHECK(getpgid(shared->places[i].pid) == shared->places[i].group &&
                getsid(shared->places[i].pid) == shared->places[i].session,
            "process %d is elsewhere", i);
    pause_ms(5);
  }
  shared->stop = 1;
  return feature_pass();
}
