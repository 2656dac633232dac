/* Processes and threads of root that have become somebody else, or have given up a part of what root may
 * (credentials(7), capabilities(7)). An ordinary user's program looks at no_new_privs of its threads only. */
#include "feature.h"
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/socket.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { WORKER = 65534, OTHER = 12345, GROUP = 4711, CHILDREN = 4 };
static pid_t parent;
static bool root;

/* What the kernel says of the calling thread, and its secure bits. An ordinary user's restart is in a user namespace,
 * where all but one is other. */
static void describe(char text[2048]) {
  FILE *status = fopen("/proc/thread-self/status", "r");
  MUST(status);
  char line[1024];
  text[0] = 0;
  while (fgets(line, sizeof line, status))
    if (!root ? !strncmp(line, "NoNewPrivs:", 11)
              : !strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4) || !strncmp(line, "Groups:", 7) ||
                    !strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs:", 11)) {
      CHECK(strlen(text) + strlen(line) < 2000, "a line of status is too long");
      strcat(text, line);
    }
  fclose(status);
  if (root)
    sprintf(text + strlen(text), "secure bits %#x, keepcaps %d\n", prctl(PR_GET_SECUREBITS), prctl(PR_GET_KEEPCAPS));
}

static void check(const char *before) {
  char now[2048];
  describe(now);
  CHECK(!strcmp(before, now), "it was\n%s and is\n%s", before, now);
}

static void set_capabilities(uint64_t effective, uint64_t permitted, uint64_t inheritable) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {
      {(uint32_t)effective, (uint32_t)permitted, (uint32_t)inheritable},
      {(uint32_t)(effective >> 32), (uint32_t)(permitted >> 32), (uint32_t)(inheritable >> 32)}};
  MUST(!syscall(SYS_capset, &header, data));
}

static int own[4]; /* a worker's pipe and sockets, which are its own */

/* As servers do: nothing of root is left. */
static void become_worker(void) {
  MUST(!setgroups(3, (gid_t[]){100, 5000, 2000000000}) && !setresgid(WORKER, GROUP, WORKER) &&
       !setresuid(WORKER, WORKER, WORKER));
  MUST(!prctl(PR_SET_DUMPABLE, 1) && !prctl(PR_SET_PDEATHSIG, SIGKILL));
  MUST(!pipe(own) && !socketpair(AF_UNIX, SOCK_STREAM, 0, own + 2));
}

static void check_worker(void) {
  int signal = 0;
  struct stat stat;
  for (int i = 0; i < 4; i++)
    CHECK(!fstat(own[i], &stat) && stat.st_uid == WORKER && stat.st_gid == GROUP, "a worker's descriptor %d is %d:%d's",
          own[i], stat.st_uid, stat.st_gid);
  CHECK(setresuid(0, 0, 0) == -1 && errno == EPERM, "a worker can be root again");
  CHECK(kill(parent, 0) == -1 && errno == EPERM, "a worker can signal root's processes");
  CHECK(open(scratch("secret"), O_RDONLY) == -1 && errno == EACCES, "a worker can read root's files");
  CHECK(prctl(PR_GET_DUMPABLE) == 1 && !prctl(PR_GET_PDEATHSIG, &signal) && signal == SIGKILL,
        "what a change of the user clears is not as it was set after that");
}

/* Another user with a few capabilities, which a program would inherit. */
static void become_other(void) {
  uint64_t kept = 1 << CAP_NET_RAW | 1 << CAP_SETPCAP, ambient = 1 << CAP_NET_RAW;
  MUST(!prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE) && !prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) && !prctl(PR_SET_KEEPCAPS, 1));
  MUST(!setgroups(0, NULL) && !setresgid(OTHER, OTHER, OTHER) && !setresuid(OTHER, OTHER, GROUP));
  set_capabilities(kept, kept, ambient);
  MUST(!prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) &&
       !prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS));
  set_capabilities(ambient, kept, ambient);
}

/* Root that is careful: few capabilities in use, files as somebody else. */
static void become_careful(void) {
  MUST(!prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP));
  setfsuid(OTHER), setfsgid(GROUP);
  set_capabilities(1 << CAP_KILL, 1 << CAP_KILL | 1 << CAP_CHOWN | 1 << CAP_SETUID, 1 << CAP_CHOWN);
}

static void *worker_thread(
    void *ready) { /* the system calls change this thread alone; the C library's would change all */
  char before[2048];
  MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  if (root) MUST(!syscall(SYS_setresgid, GROUP, GROUP, GROUP) && !syscall(SYS_setresuid, OTHER, WORKER, OTHER));
  describe(before);
  *(_Atomic bool *)ready = true;
  while (!feature_over) check(before), pause_ms(3);
  return NULL;
}

static void live(void (*become)(void), void (*look)(void), int hold, int report) {
  char before[2048], byte;
  feature_child();
  become();
  describe(before);
  MUST(write(report, "u", 1) == 1 && !fcntl(hold, F_SETFL, O_NONBLOCK));
  while (read(hold, &byte, 1) != 0) {
    check(before);
    if (look) look();
    pause_ms(3);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  static void (*const become[])(void) = {become_worker, become_other, become_careful, become_worker},
                      (*const look[])(void) = {check_worker, NULL, NULL, check_worker};
  feature_start(argc, argv);
  parent = getpid(), root = !geteuid();
  int hold[2], report[2], count = root ? CHILDREN : 0;
  pid_t children[CHILDREN];
  MUST(!pipe(hold) && !pipe(report) && !close(open(scratch("secret"), O_WRONLY | O_CREAT, 0600)) &&
       !chmod(feature_scratch, 0777));
  for (int i = 0; i < count; i++) {
    children[i] = fork();
    MUST(children[i] >= 0);
    if (!children[i]) {
      close(hold[1]);
      live(become[i], look[i], hold[0], report[1]);
    }
  }
  _Atomic bool changed = false;
  pthread_t thread = start_thread(worker_thread, (void *)&changed);
  char byte, before[2048];
  for (int i = 0; i < count; i++) MUST(read(report[0], &byte, 1) == 1);
  while (!changed) pause_ms(1);
  describe(before);
  feature_ready();
  while (!feature_finishing()) check(before), pause_ms(5);
  join_thread(thread);
  MUST(!close(hold[1]));
  for (int i = 0; i < count; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "child %d ended with %#x", i, status);
  }
  return feature_pass();
}
