/* The namespaces of a restored job, and its stubs: processes with a chosen pid that wait to be driven by ptrace. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shepherd.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define CLOCK_ERROR \
  "cannot set the clocks in the namespace of a restored job back by %lld ns (/proc/self/timens_offsets): %s%s"

enum { CAPABILITIES = 63 };

static int host_proc = -1; /* the host's /proc, kept to translate pids; -1 outside of a restore */

bool namespaces_restored(void) {
  return host_proc >= 0;
}

/* The agent's view of the calling process: /proc/self of a proc mount names the reader in that mount's pid
 * namespace. */
pid_t host_pid_of_self(void) {
  if (host_proc < 0) return getpid();
  char text[16];
  ssize_t n = readlinkat(host_proc, "self", text, sizeof text - 1);
  text[n < 0 ? 0 : n] = 0;
  return atoi(text);
}

pid_t pid_from_host(pid_t host_pid) {
  if (host_proc < 0) return host_pid;
  char path[32], text[4096], *line;
  snprintf(path, sizeof path, "%d/status", host_pid);
  int fd = openat(host_proc, path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[n < 0 ? 0 : n] = 0;
  if (!(line = strstr(text, "\nNSpid:"))) return -1;
  char *end = strchr(line + 1, '\n'), *last = NULL;
  if (end) *end = 0;
  for (char *word = strtok(line + 7, "\t "); word; word = strtok(NULL, "\t ")) last = word;
  return last ? atoi(last) : -1;
}

static int write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = write(fd, text, strlen(text));
  int error = errno;
  close(fd);
  errno = error;
  return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Reads a sysctl's first character; 0 when the kernel has none. */
static char sysctl(const char *path) {
  char value = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && read(fd, &value, 1) < 0) value = 0;
  if (fd >= 0) close(fd);
  return value;
}

/* Which setting forbids an ordinary user its own user namespace (Debian's, Ubuntu's and the kernel's own). */
static void explain_refusal(char *error, size_t size, int number) {
  const char *why = "the kernel or a security module refuses user namespaces";
  const char *way = "allow them, or restart as root";
  if (sysctl("/proc/sys/kernel/unprivileged_userns_clone") == '0') {
    why = "kernel.unprivileged_userns_clone is 0";
    way = "set it to 1 with sysctl, or restart as root";
  } else if (sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == '1') {
    why = "kernel.apparmor_restrict_unprivileged_userns is 1";
    way = "set it to 0, give udckpt-shepherd an AppArmor profile with userns, or restart as root";
  } else if (sysctl("/proc/sys/user/max_user_namespaces") == '0') {
    why = "user.max_user_namespaces is 0";
    way = "raise it with sysctl, or restart as root";
  } else if (geteuid() == 0) {
    why = "root has no CAP_SYS_ADMIN here (a container?)";
    way = "give the container that capability, or restart outside of it";
  }
  snprintf(error, size, "cannot create the namespaces of a restored job: %s: %s; %s", strerror(number), why, way);
}

static int map_user(uid_t uid, gid_t gid) {
  char text[64];
  if (write_text("/proc/self/setgroups", "deny") < 0) return -1;
  snprintf(text, sizeof text, "%u %u 1", uid, uid);
  if (write_text("/proc/self/uid_map", text) < 0) return -1;
  snprintf(text, sizeof text, "%u %u 1", gid, gid);
  return write_text("/proc/self/gid_map", text);
}

/* Returns this process's bounding set, one bit per capability. A new user namespace brings all capabilities back into
 * the bounding set (user_namespaces(7)). They mean nothing outside of the namespace, but the job's processes did not
 * have them, and their sets are compared with those of the process that starts them. */
static uint64_t bounding_set(void) {
  uint64_t set = 0;
  for (int capability = 0; capability <= CAPABILITIES; capability++)
    if (prctl(PR_CAPBSET_READ, capability) == 1) set |= 1ULL << capability;
  return set;
}

/* Drops the capabilities that are not in set. One that this kernel does not know is skipped: dropping it is EINVAL. */
static int bound_by(uint64_t set) {
  for (int capability = 0; capability <= CAPABILITIES; capability++)
    if (!(set >> capability & 1) && prctl(PR_CAPBSET_READ, capability) == 1 && prctl(PR_CAPBSET_DROP, capability) < 0)
      return -1;
  return 0;
}

/* time_namespaces(7): offsets can be written until the first process enters the namespace. */
static int set_clocks(long long offset_ns) {
  long long seconds = offset_ns / 1000000000, rest = offset_ns % 1000000000;
  if (rest < 0) {
    rest += 1000000000;
    seconds--;
  }
  char text[128];
  snprintf(text, sizeof text, "monotonic %lld %lld\nboottime %lld %lld\n", seconds, rest, seconds, rest);
  return write_text("/proc/self/timens_offsets", text);
}

static const char *clock_advice(int error) {
  return error == EPERM && !geteuid() ? ": root has no CAP_SYS_TIME here (a container?); give the container that "
                                        "capability (--cap-add SYS_TIME), or restart outside of it"
                                      : "";
}

/* This process too, whose namespaces a job's processes are compared with. That fixes the offsets
 * (time_namespaces(7)). */
static int enter_clock(void) {
  int fd = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = setns(fd, CLONE_NEWTIME), error = errno;
  close(fd);
  errno = error;
  return result;
}

/*
 * Another time namespace, in the place of the one that pid 1 came with. The agent knows the offset only when nothing is
 * left to wait for: what it waits for, the job would see as a jump of its clock.
 */
void clock_set(long long offset_ns) {
  if (!namespaces_restored()) agent_say("error clock: this shepherd was not started with --restore");
  else if (unshare(CLONE_NEWTIME) < 0) agent_say("error clock: cannot create a time namespace: %s", strerror(errno));
  else if (set_clocks(offset_ns) < 0)
    agent_say("error clock: " CLOCK_ERROR, -offset_ns, strerror(errno), clock_advice(errno));
  else if (enter_clock() < 0) agent_say("error clock: cannot enter the job's time namespace: %s", strerror(errno));
  else agent_say("clock 0");
}

/*
 * The next process or thread of the namespace gets the number that follows, if that is free: for processes in user
 * namespaces of their own, which may not choose numbers (clone3(2), set_tid).
 */
void last_pid_set(long pid) {
  char text[24];
  snprintf(text, sizeof text, "%ld", pid);
  if (!namespaces_restored()) agent_say("error last: this shepherd was not started with --restore");
  else if (write_text("/proc/sys/kernel/ns_last_pid", text) < 0)
    agent_say("error last: cannot write /proc/sys/kernel/ns_last_pid: %s", strerror(errno));
  else agent_say("last %ld", pid);
}

/* The shepherd is another process from now on: this one has its code. */
__attribute__((noreturn)) static void await_shepherd(pid_t pid) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL); /* nothing but SIGKILL ends this process before the job */
  close_range(3, ~0U, 0);             /* the agent must see the end of its connection when the shepherd ends */
  int status;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Returns 0 in pid 1 of the new namespaces; -1 with the reason in this process, or in pid 1. */
int namespaces_enter(long long offset_ns, char *error, size_t size) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) {
    snprintf(error, size, "cannot open /proc: %s", strerror(errno));
    return -1;
  }
  uint64_t bounding = bounding_set();
  ipc_remember();
  int flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWTIME | (uid ? CLONE_NEWUSER : 0);
  if (unshare(flags) < 0) {
    explain_refusal(error, size, errno);
    return -1;
  }
  if (uid && map_user(uid, gid) < 0) {
    snprintf(
        error, size,
        "cannot map user %u into the namespace of a restored job: %s; a security module may forbid it: restart as root",
        uid, strerror(errno));
    return -1;
  }
  if (uid && bound_by(bounding) < 0) {
    snprintf(error, size, "cannot drop capabilities from the bounding set in the namespace of a restored job: %s",
             strerror(errno));
    return -1;
  }
  if (set_clocks(offset_ns) < 0) {
    snprintf(error, size, CLOCK_ERROR, -offset_ns, strerror(errno), clock_advice(errno));
    return -1;
  }
  pid_t pid = fork();
  if (pid > 0) await_shepherd(pid);
  if (pid < 0) {
    snprintf(error, size, "cannot start pid 1 of a restored job: %s", strerror(errno));
    return -1;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* who kills the outer process means the job */
  if (proc_mount(error, size) < 0 || ipc_set(error, size) < 0) return -1;
  host_proc = proc;
  return 0;
}

static void stub_run(int pipe) {
  pid_t host_pid = host_pid_of_self();
  inherit_signals();
  if (write(pipe, &host_pid, sizeof host_pid) != sizeof host_pid) _exit(126);
  close_range(3, ~0U, 0); /* the pipe, too: that tells the shepherd that nothing of its own is left here */
  for (;;) pause();
}

static pid_t clone_with_pid(pid_t pid) {
  struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (unsigned long)&pid, .set_tid_size = 1};
  return syscall(SYS_clone3, &args, sizeof args);
}

/*
 * What getppid(2) tells a job's first processes and its orphans stays the same: the shepherd goes on, with its
 * connections, in a child of pid 1 that has the number that the job's parent had; pid 1 only waits for it. The
 * namespace ends with pid 1, so with the shepherd. Where there cannot be such a number (it is above this machine's
 * pid_max), pid 1 stays the shepherd. */
void parent_become(pid_t pid) {
  if (!namespaces_restored() || getpid() != 1 || children_roots() > 0) {
    agent_say("error parent %d: it has to be the first command of a shepherd started with --restore", pid);
    return;
  }
  pid_t child = clone_with_pid(pid);
  if (child > 0) await_shepherd(child);
  if (child == 0) prctl(PR_SET_CHILD_SUBREAPER, 1);
  agent_say("parent %d %d", pid, child < 0 ? 1 : pid);
}

void stub_make(pid_t pid) {
  int ends[2];
  if (!namespaces_restored()) {
    agent_say("error stub %d: this shepherd was not started with --restore", pid);
    return;
  }
  if (children_roots() == SHEPHERD_MAX_ROOTS) {
    agent_say("error stub %d: more than %d processes", pid, SHEPHERD_MAX_ROOTS);
    return;
  }
  if (pipe2(ends, O_CLOEXEC) < 0) {
    agent_say("error stub %d: pipe: %s", pid, strerror(errno));
    return;
  }
  pid_t child = clone_with_pid(pid);
  if (child == 0) stub_run(ends[1]);
  int error = errno;
  close(ends[1]);
  pid_t host_pid = 0;
  if (child < 0)
    agent_say("error stub %d: cannot create a process with this pid: %s%s", pid, strerror(error),
              error == EINVAL ? "; raise kernel.pid_max, which is smaller here" : "");
  else if (read(ends[0], &host_pid, sizeof host_pid) != sizeof host_pid) agent_say("error stub %d: died at once", pid);
  else {
    /* Not before it has closed everything: what the agent finds open in it, it leaves to the restored process. */
    char end;
    while (read(ends[0], &end, 1) < 0 && errno == EINTR) {
    }
    child_add(child, host_pid, true);
    agent_say("stub %d %d", pid, host_pid);
  }
  close(ends[0]);
}
