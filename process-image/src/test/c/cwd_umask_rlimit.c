/* Attributes of the process: directory, umask, limits, nice value, scheduling affinity, groups, dumpable, subreaper. */
#include "feature.h"
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("below"), 0755) && !chdir(scratch("below")));
  umask(027);
  struct rlimit files, cores = {0, 0}, stack, now;
  MUST(!getrlimit(RLIMIT_NOFILE, &files));
  files.rlim_cur = 333;
  MUST(!setrlimit(RLIMIT_NOFILE, &files) && !setrlimit(RLIMIT_CORE, &cores) && !getrlimit(RLIMIT_STACK, &stack));
  int nice = getpriority(PRIO_PROCESS, 0) + 3 < 19 ? getpriority(PRIO_PROCESS, 0) + 3 : 19;
  MUST(!setpriority(PRIO_PROCESS, 0, nice));
  cpu_set_t one, affinity;
  CPU_ZERO(&one);
  MUST(!sched_getaffinity(0, sizeof affinity, &affinity));
  for (int c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, &affinity)) {
      CPU_SET(c, &one);
      break;
    }
  MUST(!sched_setaffinity(0, sizeof one, &one));
  uid_t uid = getuid(), effective = geteuid();
  gid_t gid = getgid(), groups[64], groups_now[64];
  int group_count = getgroups(64, groups);
  MUST(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    char directory[PATH_MAX];
    CHECK(getcwd(directory, sizeof directory) && !strcmp(directory, scratch("below")), "the working directory is %s",
          directory);
    mode_t mask = umask(027);
    CHECK(mask == 027, "the umask became %#o", mask);
    MUST(!getrlimit(RLIMIT_NOFILE, &now));
    CHECK(now.rlim_cur == 333 && now.rlim_max == files.rlim_max, "RLIMIT_NOFILE became %lu/%lu", now.rlim_cur,
          now.rlim_max);
    MUST(!getrlimit(RLIMIT_CORE, &now));
    CHECK(!now.rlim_cur && !now.rlim_max, "RLIMIT_CORE became %lu", now.rlim_cur);
    MUST(!getrlimit(RLIMIT_STACK, &now));
    CHECK(now.rlim_cur == stack.rlim_cur && now.rlim_max == stack.rlim_max, "RLIMIT_STACK became %lu", now.rlim_cur);
    CHECK(getpriority(PRIO_PROCESS, 0) == nice, "the nice value became %d", getpriority(PRIO_PROCESS, 0));
    CHECK(!sched_getaffinity(0, sizeof affinity, &affinity) && CPU_EQUAL(&affinity, &one), "the affinity changed");
    CHECK(getuid() == uid && geteuid() == effective && getgid() == gid, "uid %d, effective %d, gid %d", getuid(),
          geteuid(), getgid());
    CHECK(getgroups(64, groups_now) == group_count && !memcmp(groups, groups_now, group_count * sizeof *groups),
          "the groups changed");
    int subreaper = 0;
    CHECK(!prctl(PR_GET_CHILD_SUBREAPER, &subreaper) && subreaper, "not a child subreaper any more");
    CHECK(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1, "PR_SET_THP_DISABLE is lost");
    CHECK(prctl(PR_GET_DUMPABLE) == 1, "not dumpable any more");
    pause_ms(5);
  }
  return feature_pass();
}
