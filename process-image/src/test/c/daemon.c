/* Processes whose parents have ended: a daemon as daemon(3) makes it, in a session without its leader, with a child and
 * a group of that; one that leads a session; and one that was left in the first process's session. */
#include "feature.h"
#include <sys/wait.h>

static int done[2];
static pid_t shepherd;

/* Until the end: the same parent, group and session. */
static void stay(pid_t parent, char word) {
  pid_t group = getpgrp(), session = getsid(0);
  while (!feature_finishing()) {
    if (getppid() != parent) pause_ms(1000); /* the driver kills them one after the other */
    CHECK(getppid() == parent, "%c: parent %d became %d", word, parent, getppid());
    CHECK(getpgrp() == group && getsid(0) == session, "%c: group %d became %d, session %d became %d", word, group,
          getpgrp(), session, getsid(0));
    pause_ms(2);
  }
}

static void orphaned(void) {
  for (int i = 0; getppid() != shepherd; i++) {
    CHECK(i < 5000, "parent %d, not the shepherd %d", getppid(), shepherd);
    pause_ms(1);
  }
  feature_child();
}

static void tell(char word) {
  MUST(write(done[1], &word, 1) == 1);
  _exit(0);
}

static void leaderless(void) {
  orphaned();
  CHECK(getsid(0) != getpid(), "it leads its session");
  pid_t self = getpid(), child = fork();
  MUST(child >= 0);
  if (!child) {
    feature_child();
    MUST(!setpgid(0, 0));
    stay(self, 'c');
    tell('c');
  }
  stay(shepherd, 'l');
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the daemon's child ended with %#x", status);
  tell('l');
}

static void leader(void) {
  MUST(setsid() == getpid());
  orphaned();
  stay(shepherd, 's');
  tell('s');
}

static void left_behind(void) {
  orphaned();
  stay(shepherd, 'b');
  tell('b');
}

static void start(void (*body)(void), bool session) {
  pid_t middle = fork();
  MUST(middle >= 0);
  if (!middle) {
    if (session) MUST(setsid() == getpid());
    pid_t orphan = fork();
    MUST(orphan >= 0);
    if (!orphan) body();
    _exit(0);
  }
  int status;
  MUST(waitpid(middle, &status, 0) == middle && !status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!pipe(done));
  shepherd = getppid();
  start(leaderless, true), start(leader, false), start(left_behind, false);
  pause_ms(100);
  feature_ready();
  while (!feature_finishing()) pause_ms(2);
  char words[8];
  int got = 0;
  for (; got < 4; got++) MUST(read(done[0], words + got, 1) == 1);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "a daemon became a child");
  return feature_pass();
}
