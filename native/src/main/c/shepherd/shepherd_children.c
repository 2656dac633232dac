/* The shepherd's children: roots, snapshots, and what becomes of them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shepherd.h"

static struct root roots[SHEPHERD_MAX_ROOTS];
static int root_count;
static pid_t expected[SHEPHERD_MAX_EXPECTED];
static int expected_count;
static int code;
static bool sweeping; /* the job is ended by force: whoever becomes our child is one of its orphans */

int children_roots(void) {
  return root_count;
}
int job_code(void) {
  return code;
}

/* The first process that fails gives the job its code, as mpiexec has it. */
void job_set_code(int value) {
  if (code == 0) code = value;
}

void child_add(pid_t pid, pid_t host_pid, bool stub) {
  roots[root_count++] = (struct root){pid, host_pid, stub};
}

/* A stub that another one has made for this process (clone(2), CLONE_PARENT). */
void child_adopt(pid_t pid, pid_t host_pid) {
  siginfo_t info;
  if (root_count == SHEPHERD_MAX_ROOTS) agent_say("error adopt %d: more than %d processes", pid, SHEPHERD_MAX_ROOTS);
  else if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0)
    agent_say("error adopt %d: %s", pid, strerror(errno));
  else {
    child_add(pid, host_pid, true);
    agent_say("adopt %d %d", pid, host_pid);
  }
}

void child_expect(pid_t pid) {
  if (expected_count == SHEPHERD_MAX_EXPECTED) {
    agent_say("error more than %d snapshots at a time", SHEPHERD_MAX_EXPECTED);
    return;
  }
  expected[expected_count++] = pid;
}

void children_go(void) {
  for (int i = 0; i < root_count; i++) roots[i].stub = false;
}

static void forget_expected(pid_t pid) {
  for (int i = 0; i < expected_count; i++)
    if (expected[i] == pid) expected[i--] = expected[--expected_count];
}

static bool is_expected(pid_t pid) {
  for (int i = 0; i < expected_count; i++)
    if (expected[i] == pid) return true;
  return false;
}

/* Kills whoever is our child now, but snapshots; a killed process's children come to us (PR_SET_CHILD_SUBREAPER) and
 * are next. */
static void sweep(void) {
  FILE *list = fopen("/proc/thread-self/children", "re"); /* CONFIG_PROC_CHILDREN, which a capture needs as well */
  if (!list) return;
  for (int pid; fscanf(list, "%d", &pid) == 1;)
    if (!is_expected(pid)) kill(pid, SIGKILL);
  fclose(list);
}

static void reaped(pid_t pid, int status) {
  forget_expected(pid);
  for (int i = 0; i < root_count; i++) {
    if (roots[i].pid != pid) continue;
    agent_say("exited %d %d", roots[i].host_pid, status);
    job_set_code(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    roots[i] = roots[--root_count];
    break;
  }
  if (agent_fd() < 0) alone_check_barrier(); /* the others may have waited for this one */
}

void children_reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) reaped(pid, status);
  if (sweeping) sweep();
}

/* 0: there is no such process, or nobody is its parent. */
static pid_t parent_of(pid_t pid) {
  char path[32], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  char *name_end = length > 0 ? strrchr(text, ')') : NULL; /* proc_pid_stat(5): the name may hold anything */
  int parent = 0;
  return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Whether it is a process of the job: one below this one, also one that has ended and was not waited for. */
bool children_include(pid_t pid) {
  if (namespaces_restored()) return pid > 0; /* nobody else has a number here */
  for (pid = parent_of(pid); pid > 1 && pid != getpid();) pid = parent_of(pid);
  return pid == getpid();
}

/* A root that leads its process group is signalled with its group, so that a script's program hears it too. */
static int signal_root(const struct root *root, int number) {
  bool leader = !root->stub && getpgid(root->pid) == root->pid;
  return kill(leader ? -root->pid : root->pid, number);
}

/* host_pid 0: every root. -1 with errno when a named process is none of the roots. */
int children_signal(int number, pid_t host_pid) {
  int result = host_pid ? -1 : 0;
  if (number == SIGKILL && !host_pid) sweeping = true; /* as the roots end */
  errno = ESRCH;
  for (int i = 0; i < root_count; i++)
    if (host_pid == 0 || roots[i].host_pid == host_pid)
      result = signal_root(&roots[i], number) < 0 && errno != ESRCH ? -1 : 0;
  return result;
}

/*
 * Only snapshots that the agent announced: another orphan may be a daemon of the job. (A snapshot that was not
 * announced yet is still traced by the agent, and is killed with it; docs/internals/capture.md, "The snapshot".)
 */
void children_kill_expected(void) {
  for (int i = 0; i < expected_count; i++) kill(expected[i], SIGKILL);
}

/* Returns how many roots are left that are ranks. */
int children_kill_stubs(void) {
  int ranks = 0;
  for (int i = 0; i < root_count; i++) {
    if (roots[i].stub) kill(roots[i].pid, SIGKILL);
    else ranks++;
  }
  return ranks;
}

void children_kill_roots(void) {
  for (int i = 0; i < root_count; i++) signal_root(&roots[i], SIGKILL);
}

/* In a restored job: kills every process of the pid namespace but this one, of any group and session (kill(2)). */
void children_kill_all(void) {
  if (namespaces_restored()) kill(-1, SIGKILL);
}

/* As above; SIGCONT does nothing to a process that is not stopped and has no handler for it. */
void children_continue_all(void) {
  if (namespaces_restored()) kill(-1, SIGCONT);
}

/* Zombies included; none is taken. __WALL, since a rank's clone(2) may have chosen another signal than SIGCHLD. */
static bool children_left(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

void shepherd_exit(void) {
  if (root_count > 0) sweeping = true;
  children_kill_expected();
  children_kill_roots();
  /* A process in an uninterruptible wait must not keep the shell waiting for ever. */
  for (int i = 0; i < 500 && (root_count + expected_count > 0 || (sweeping && children_left())); i++) {
    children_reap();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  exit(code);
}
