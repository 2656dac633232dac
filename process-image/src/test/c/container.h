/* Processes in pid namespaces of their own, as containers have them: made by unshare(2), whose caller stays outside, as
 * root; and with a user namespace by clone(2), with a /proc that shows it. In each: a process 1 without a parent, with
 * a thread, a child with a session of its own and a group below it, one that has ended, an orphan, and what the kernel
 * tells by numbers: pidfds, owners of descriptors, timers of threads, senders of signals, peers of sockets.
 */
#ifndef CONTAINER_H
#define CONTAINER_H
#include "own_user.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const char *place = ""; /* of this container's files */

__attribute__((noreturn)) static void begin(const char *kinds);

static char *mine(const char *name) {
  char text[64];
  snprintf(text, sizeof text, "%s-%s", place, name);
  return scratch(text);
}

static void await(const char *name) {
  while (access(mine(name), F_OK)) pause_ms(1);
}

static void tell(const char *name) {
  write_file(mine(name), "ready");
}

static pid_t peer_of(int fd) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  MUST(!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length));
  return peer.pid;
}

static volatile sig_atomic_t ticks, sender;

static void on_tick(int number) {
  (void)number;
  ticks++;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  sender = info->si_pid;
}

/* Signalled by a timer of its own process: by the number that it has in the namespace. */
static void *thread(void *unused) {
  (void)unused;
  Identity self = identity();
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  event.sigev_notify_thread_id = self.tid;
  struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  MUST(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &often, NULL));
  while (!feature_over) {
    int before = ticks;
    check_identity(&self);
    for (int tries = 0; ticks == before; tries++) {
      CHECK(tries < 5000, "the timer does not signal its thread");
      pause_ms(1);
    }
  }
  MUST(!timer_delete(timer));
  return NULL;
}

/* The leader of a session, with a child in a group of its own. */
__attribute__((noreturn)) static void leader(void) {
  feature_child();
  pid_t own = getpid();
  MUST(setsid() == own);
  int pair[2];
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  pid_t child = fork();
  if (!child) {
    feature_child();
    MUST(!setpgid(0, 0));
    tell("group");
    while (!feature_finishing()) {
      CHECK(getppid() == own && getsid(0) == own && getpgrp() == getpid(), "parent %d, session %d, group %d", getppid(),
            getsid(0), getpgrp());
      CHECK(peer_of(pair[0]) == own, "the socket's peer is %d", peer_of(pair[0]));
      pause_ms(3);
    }
    _exit(5);
  }
  await("group");
  tell("leader");
  int status;
  while (!feature_finishing()) {
    CHECK(getppid() == 1 && getsid(0) == own && getpgrp() == own, "parent %d, session %d, group %d", getppid(),
          getsid(0), getpgrp());
    CHECK(getpgid(child) == child && !waitpid(child, &status, WNOHANG), "the group is %d", getpgid(child));
    pause_ms(3);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 5 << 8, "its child ended with %#x", status);
  _exit(4);
}

__attribute__((noreturn)) static void orphan(void) {
  feature_child();
  tell("orphan");
  while (!feature_finishing()) {
    CHECK(getppid() == 1, "the orphan's parent is %d", getppid());
    pause_ms(3);
  }
  _exit(6);
}

static int descriptor_of(pid_t pid) {
  return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void check_proc(bool own) {
  static char first[32];
  char text[32] = "";
  ssize_t length = readlink("/proc/self", text, sizeof text - 1);
  CHECK(length > 0 && (atoi(text) == 1) == own, "/proc/self is %s", text);
  if (!*first) strcpy(first, text);
  CHECK(!strcmp(first, text), "/proc/self is %s and was %s", text, first);
}

/* Starts another one, in this place, of the first of these kinds; it has the others in it. */
static pid_t start(const char *kinds) {
  char *name;
  MUST(asprintf(&name, "%s%c", place, *kinds) > 0);
  pid_t child = fork();
  if (!child) {
    place = name;
    begin(kinds);
  }
  const char *own = place;
  place = name;
  await("parent");
  place = own;
  free(name);
  return child;
}

/* Process 1. */
__attribute__((noreturn)) static void container(bool own_proc, const char *kinds) {
  feature_child();
  CHECK(getpid() == 1 && !getppid(), "process %d of %d", getpid(), getppid());
  MUST(signal(SIGUSR1, on_tick) != SIG_ERR);
  struct sigaction told = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  MUST(!sigaction(SIGUSR2, &told, NULL));
  pid_t first = fork();
  if (!first) leader();
  await("leader");
  pid_t between = fork();
  if (!between) {
    pid_t child = fork();
    if (!child) {
      while (getppid() != 1) pause_ms(1);
      orphan();
    }
    _exit(0);
  }
  int status;
  MUST(waitpid(between, &status, 0) == between);
  await("orphan");
  pid_t gone = fork();
  if (!gone) _exit(3);
  siginfo_t info;
  MUST(!waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT));
  pthread_t other = start_thread(thread, NULL);
  int pipes[2], of_first = descriptor_of(first), of_gone = descriptor_of(gone);
  MUST(!pipe(pipes) && !fcntl(pipes[0], F_SETOWN, first) && of_first >= 0 && of_gone >= 0);
  struct f_owner_ex group = {F_OWNER_PGRP, first}, got;
  MUST(!fcntl(pipes[1], F_SETOWN_EX, &group));
  pid_t inner = *kinds ? start(kinds) : 0;
  tell("container");
  while (!feature_finishing()) {
    CHECK(!inner || !waitpid(inner, &status, WNOHANG), "the container in it ended with %#x", status);
    CHECK(!getppid(), "process 1 has the parent %d", getppid());
    CHECK(fcntl(pipes[0], F_GETOWN) == first, "the owner is %d", fcntl(pipes[0], F_GETOWN));
    CHECK(!fcntl(pipes[1], F_GETOWN_EX, &got) && got.type == F_OWNER_PGRP && got.pid == first, "the owner is %d",
          got.pid);
    CHECK(getsid(first) == first && getpgid(first) == first, "the session is %d", getsid(first));
    CHECK(!syscall(SYS_pidfd_send_signal, of_first, 0, NULL, 0), "the pidfd of %d", first);
    CHECK(!waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT) && info.si_status == 3 && info.si_pid == gone,
          "the child that had ended is %d", info.si_pid);
    CHECK(!waitpid(first, &status, WNOHANG), "%d ended with %#x", first, status);
    MUST(!sigqueue(1, SIGUSR2, (union sigval){0}));
    CHECK(sender == 1, "the signal came from %d", sender);
    check_proc(own_proc);
    pause_ms(3);
  }
  OK(pthread_join(other, NULL));
  CHECK(!inner || (waitpid(inner, &status, 0) == inner && !status), "the container in it ended with %#x", status);
  CHECK(waitpid(gone, &status, 0) == gone && status == 3 << 8, "%d ended with %#x", gone, status);
  CHECK(waitpid(first, &status, 0) == first && status == 4 << 8, "%d ended with %#x", first, status);
  CHECK(waitpid(-1, &status, 0) > 1 && status == 6 << 8, "the orphan ended with %#x", status);
  CHECK(waitpid(-1, &status, 0) < 0 && errno == ECHILD, "process 1 has one child more, which ended with %#x", status);
  _exit(7);
}

static ino_t inode(const char *path) {
  struct stat file;
  MUST(!stat(path, &file));
  return file.st_ino;
}

/* As unshare --pid does it: the parent stays where it was, and has more children in the namespace. */
__attribute__((noreturn)) static void by_unshare(const char *kinds) {
  feature_child();
  MUST(!unshare(CLONE_NEWPID));
  pid_t child = fork();
  if (!child) container(false, kinds);
  await("container");
  tell("parent");
  int status;
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "the container ended with %#x", status);
    CHECK(inode("/proc/self/ns/pid") != inode("/proc/self/ns/pid_for_children"), "its children are born beside it");
    pid_t another = fork();
    if (!another) {
      feature_child();
      pause_ms(30);
      _exit(getppid() ? 1 : 2);
    }
    /* the end of process 1 is that of all */
    CHECK(waitpid(another, &status, 0) == another && (status == 2 << 8 || (status == SIGKILL && feature_finishing())),
          "a child ended with %#x", status);
    pause_ms(20);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 7 << 8, "the container ended with %#x", status);
  _exit(0);
}

static void map(const char *file, const char *format, unsigned number) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/self/%s", file);
  snprintf(text, sizeof text, format, number);
  write_file(path, text);
}

/* As sandboxes do it: all namespaces at once, and one more process that waits. */
__attribute__((noreturn)) static void by_clone(const char *kinds) {
  feature_child();
  unsigned user = geteuid(), group = getegid();
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
  if (!child) {
    map("setgroups", "deny", 0);
    map("uid_map", "0 %u 1", user);
    map("gid_map", "0 %u 1", group);
    MUST(!mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL));
    if (*kinds) MUST(!mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL)); /* what is in it gets what is mounted here */
    MUST(!mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
    container(true, kinds);
  }
  MUST(child > 0);
  await("container");
  tell("parent");
  int status;
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "the container ended with %#x", status);
    pause_ms(3);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 7 << 8, "the container ended with %#x", status);
  _exit(0);
}

static void begin(const char *kinds) {
  if (*kinds == 'u') by_unshare(kinds + 1);
  by_clone(kinds + 1);
}

/* Containers of these kinds, one beside the other: each a text of 'u' (unshare(2)) and 'c' (clone(2)), the outer first.
 * An ordinary user has those that begin with 'c'. */
static int containers(int argc, char **argv, const char *const *all, int count) {
  feature_start(argc, argv);
  pid_t parents[4] = {0};
  int status;
  for (int i = 0; i < count; i++)
    if (!geteuid() || *all[i] == 'c') {
      place = (const char *[]){"0", "1", "2", "3"}[i];
      parents[i] = start(all[i]);
    }
  feature_ready();
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "a child ended with %#x", status);
    pause_ms(3);
  }
  for (int i = 0; i < count; i++)
    CHECK(!parents[i] || (waitpid(parents[i], &status, 0) == parents[i] && !status), "a child ended with %#x", status);
  return feature_pass();
}
#endif
