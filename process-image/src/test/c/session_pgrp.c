/* Sessions and process groups of a tree: a child with a session of its own, another with a group of its own. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

typedef struct {
  _Atomic bool up[3], stop;
} Shared;

static Shared *shared;

static void live(int index, pid_t session, pid_t group) {
  feature_child();
  while (!shared->stop) {
    CHECK(getsid(0) == session, "child %d: the session was %d, is %d", index, session, getsid(0));
    CHECK(getpgrp() == group, "child %d: the group was %d, is %d", index, group, getpgrp());
    shared->up[index] = true;
    pause_ms(5);
  }
  _exit(index);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(shared != MAP_FAILED);
  MUST(getpid() == getsid(0) || setsid() > 0 ||
       !setpgid(0, 0)); /* a group leader that cannot leave its session keeps it */
  pid_t session = getsid(0), group = getpgrp(), children[3];
  for (int i = 0; i < 3; i++) {
    children[i] = fork();
    if (children[i]) continue;
    if (i == 0) MUST(setsid() == getpid());
    if (i == 1) MUST(!setpgid(0, 0));
    live(i, i == 0 ? getpid() : session, i == 2 ? group : getpid());
  }
  for (int i = 0; i < 3; i++)
    while (!shared->up[i]) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(getsid(0) == session && getpgrp() == group, "the session was %d, is %d; the group was %d, is %d", session,
          getsid(0), group, getpgrp());
    CHECK(getsid(children[0]) == children[0] && getpgid(children[1]) == children[1] && getpgid(children[2]) == group,
          "a child's session or group changed");
    pause_ms(5);
  }
  CHECK(!kill(-children[1], 0), "the child's process group is gone");
  shared->stop = true;
  for (int i = 0; i < 3; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && WEXITSTATUS(status) == i, "child %d ended with %#x", i,
          status);
  }
  return feature_pass();
}
