/* How children ended, told by wait, waitid and SIGCHLD until somebody has waited: by SIGKILL and by other signals (also
 * those that a launcher may ignore), with a core dump, with each kind of exit code, as another user, with a main thread
 * that ended first; and the groups and sessions that they were in. */
#include "feature.h"
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MOST = 24 };

typedef struct {
  pid_t pid, group, session;
  siginfo_t ended;
  char name[32];
} Child;

static Child children[MOST];
static int count;
static siginfo_t queued;

static siginfo_t look(int type, pid_t id) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  CHECK(!waitid(type, id, &info, WEXITED | WNOWAIT | WNOHANG), "waitid of %d", id);
  return info;
}

static void read_name(pid_t pid, char *name, int size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0, "%s", path);
  ssize_t n = read(fd, name, size - 1);
  close(fd);
  CHECK(n > 0, "read %s", path);
  name[n] = 0;
}

static void made(pid_t pid) {
  MUST(pid > 0 && count < MOST);
  Child *child = &children[count++];
  child->pid = pid;
  MUST(!waitid(P_PID, pid, &child->ended, WEXITED | WNOWAIT));
  child->group = getpgid(pid), child->session = getsid(pid);
  read_name(pid, child->name, sizeof child->name);
}

static void exits(int code) {
  pid_t pid = fork();
  if (!pid) _exit(code);
  made(pid);
}

static void killed(int signal_number) {
  /* A shell's background commands and nohup(1) ignore some, and the child's first step may come after the signal. */
  signal(signal_number, SIG_DFL);
  pid_t pid = fork();
  if (!pid) {
    prctl(PR_SET_NAME, "a name");
    while (true) pause();
  }
  MUST(!kill(pid, signal_number));
  made(pid);
}

static bool dumps_here(void) {
  char pattern[256];
  int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, pattern, sizeof pattern - 1);
  if (fd >= 0) close(fd);
  pattern[n < 0 ? 0 : n] = 0;
  struct rlimit limit;
  return n > 1 && !strpbrk(pattern, "|@/") && !getrlimit(RLIMIT_CORE, &limit) && limit.rlim_max == RLIM_INFINITY;
}

static void dumps(void) {
  if (!dumps_here()) return;
  pid_t pid = fork();
  if (!pid) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &all) || chdir(feature_scratch) || prctl(PR_SET_DUMPABLE, 1)) _exit(1);
    raise(SIGSEGV);
    _exit(1);
  }
  made(pid);
}

/* waitid tells of its user, kill looks at it. */
static void other_user(void) {
  if (geteuid()) return;
  pid_t pid = fork();
  if (!pid) _exit(setresuid(65534, 65534, 65534) ? 1 : 5);
  made(pid);
  MUST(children[count - 1].ended.si_uid == 65534 && children[count - 1].ended.si_status == 5);
}

static void *last_thread(void *unused) {
  (void)unused;
  pause_ms(50);
  syscall(SYS_exit_group, 9);
  return NULL;
}

/* Its main thread's end says 3, that of the process 9. */
static void main_first(void) {
  pid_t pid = fork();
  if (!pid) {
    start_thread(last_thread, NULL);
    syscall(SYS_exit, 3);
  }
  made(pid);
}

static void apart(bool session, pid_t group) {
  pid_t pid = fork();
  if (!pid) _exit((session ? setsid() != getpid() : setpgid(0, group)) ? 1 : 0);
  made(pid);
}

static void check(void) {
  for (int i = 0; i < count; i++) {
    Child *child = &children[i];
    siginfo_t now = look(P_PID, child->pid);
    CHECK(now.si_pid == child->pid && now.si_code == child->ended.si_code && now.si_status == child->ended.si_status &&
              now.si_uid == child->ended.si_uid,
          "child %d (%d): pid %d, code %d instead of %d, status %d instead of %d, user %d instead of %d", i, child->pid,
          now.si_pid, now.si_code, child->ended.si_code, now.si_status, child->ended.si_status, now.si_uid,
          child->ended.si_uid);
    CHECK(getpgid(child->pid) == child->group && getsid(child->pid) == child->session,
          "child %d: group %d became %d, session %d became %d", i, child->group, getpgid(child->pid), child->session,
          getsid(child->pid));
    char name[32];
    read_name(child->pid, name, sizeof name);
    CHECK(!strcmp(name, child->name), "child %d: name %s became %s", i, child->name, name);
  }
  CHECK(look(P_ALL, 0).si_pid == children[0].pid, "the first to be waited for is %d, not %d", look(P_ALL, 0).si_pid,
        children[0].pid);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  MUST(!sigprocmask(SIG_BLOCK, &chld, NULL));
  killed(SIGKILL), exits(0), exits(255), killed(SIGTERM), killed(SIGPIPE), killed(SIGHUP), killed(SIGINT),
      killed(SIGKILL), killed(SIGRTMIN + 3), killed(SIGUSR1), killed(SIGALRM);
  dumps(), other_user(), main_first();
  apart(true, 0), apart(false, 0), apart(false, children[count - 1].pid), exits(17);
  MUST(sigwaitinfo(&chld, &queued) == SIGCHLD); /* of the first: one at most waits */
  CHECK(queued.si_pid == children[0].pid && queued.si_code == CLD_KILLED && queued.si_status == SIGKILL,
        "SIGCHLD tells of %d", queued.si_pid);
  killed(SIGKILL); /* and now this one's waits */
  check();
  feature_ready();
  while (!feature_finishing()) {
    check();
    pause_ms(5);
  }
  MUST(sigwaitinfo(&chld, &queued) == SIGCHLD);
  CHECK(queued.si_pid == children[count - 1].pid && queued.si_code == CLD_KILLED && queued.si_status == SIGKILL,
        "SIGCHLD tells of %d", queued.si_pid);
  for (int i = 0; i < count; i++) { /* in the order in which they were made, since all had ended */
    siginfo_t *ended = &children[i].ended;
    int status, want = ended->si_code == CLD_EXITED ? ended->si_status << 8
                                                    : ended->si_status | (ended->si_code == CLD_DUMPED ? 0x80 : 0);
    pid_t pid = wait(&status);
    CHECK(pid == children[i].pid && status == want, "child %d (%d) is %d with status %#x, not %#x", i, children[i].pid,
          pid, status, want);
  }
  CHECK(wait(NULL) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
