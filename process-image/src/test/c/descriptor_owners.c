/* The process that gets a signal when a descriptor becomes ready, and the signal (F_SETOWN, F_SETOWN_EX, F_SETSIG): of
 * all kinds of descriptor, with and without O_ASYNC. */
#include "feature.h"
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

static struct {
  const char *what;
  int fd, own, signal;
  struct f_owner_ex owner;
} all[128];
static int count;

static void set(const char *what, int fd, int type, pid_t who, int signal) {
  struct f_owner_ex owner = {type, who};
  CHECK(fd >= 0 && !fcntl(fd, F_SETOWN_EX, &owner) && !fcntl(fd, F_SETSIG, signal), "%s", what);
  all[count].what = what, all[count].fd = fd, all[count].signal = signal, all[count].owner = owner;
  all[count].own = fcntl(fd, F_GETOWN);
  count++;
}

static _Atomic int urgent, told;
static void on_urgent(int signal) {
  (void)signal, urgent++;
}
static void on_told(int signal) {
  (void)signal, told++;
}

static _Atomic pid_t thread;
static void *sleeper(void *unused) {
  (void)unused;
  sigset_t every;
  sigfillset(&every), pthread_sigmask(SIG_BLOCK, &every, NULL);
  thread = (pid_t)syscall(SYS_gettid);
  while (!feature_over) pause_ms(5);
  return NULL;
}

static int own_pipe(void) {
  int ends[2];
  MUST(!pipe(ends));
  return ends[0];
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  signal(SIGURG, on_urgent), signal(SIGRTMIN + 3, on_told);
  pthread_t waiting = start_thread(sleeper, NULL);
  while (!thread) pause_ms(1);
  int go[2];
  MUST(!pipe(go));
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) { /* a group of its own, which is an owner */
    feature_child();
    MUST(!setpgid(0, 0) && write(go[1], "x", 1) == 1);
    while (!feature_finishing()) pause_ms(2);
    _exit(0);
  }
  char byte;
  MUST(read(go[0], &byte, 1) == 1);
  int pair[2], file = open_scratch("file", O_RDWR | O_CREAT);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  pid_t self = getpid();
  set("a pipe", own_pipe(), F_OWNER_PID, self, SIGRTMIN + 3),
      set("a pipe of a thread", own_pipe(), F_OWNER_TID, thread, 0);
  set("a pipe of a group", own_pipe(), F_OWNER_PGRP, child, SIGUSR1),
      set("a pipe of the child", own_pipe(), F_OWNER_PID, child, 0);
  set("a pipe with a signal only", own_pipe(), F_OWNER_PID, 0, SIGRTMIN + 3),
      set("half of a pair", pair[0], F_OWNER_PGRP, child, 0),
      set("the other half", pair[1], F_OWNER_TID, self, SIGUSR2);
  set("a file", file, F_OWNER_PID, self, SIGRTMIN + 3),
      set("a directory", open(scratch("."), O_RDONLY), F_OWNER_TID, thread, SIGUSR1);
  set("/dev/null", open("/dev/null", O_RDWR), F_OWNER_PID, self, 0),
      set("an event counter", eventfd(0, 0), F_OWNER_PID, self, SIGUSR1);
  set("a timer", timerfd_create(CLOCK_MONOTONIC, 0), F_OWNER_PGRP, child, SIGUSR1),
      set("epoll", epoll_create1(0), F_OWNER_PID, self, 0);
  set("a UDP socket", socket(AF_INET, SOCK_DGRAM, 0), F_OWNER_PGRP, child, 0),
      set("a unix socket", socket(AF_UNIX, SOCK_DGRAM, 0), F_OWNER_TID, thread, SIGUSR1);
  MUST(!mkfifo(scratch("fifo"), 0600));
  set("a FIFO", open(scratch("fifo"), O_RDWR), F_OWNER_PID, self, SIGUSR2);
  int listener = socket(AF_INET, SOCK_STREAM, 0), calling = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof here;
  MUST(!bind(listener, (struct sockaddr *)&here, sizeof here) && !listen(listener, 1) &&
       !getsockname(listener, (struct sockaddr *)&here, &length));
  MUST(!connect(calling, (struct sockaddr *)&here, sizeof here));
  int called = accept(listener, NULL, NULL), ready[2];
  set("a TCP connection", called, F_OWNER_PID, self, 0),
      set("a TCP listener", listener, F_OWNER_TID, self, SIGUSR1); /* SIGURG goes to the owner without O_ASYNC */
  MUST(!pipe(ready));
  set("one that signals", ready[0], F_OWNER_TID, self, SIGRTMIN + 3);
  MUST(!fcntl(ready[0], F_SETFL, O_ASYNC));
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++) {
      struct f_owner_ex owner = {-1, -1};
      int signal = fcntl(all[i].fd, F_GETSIG), own = fcntl(all[i].fd, F_GETOWN);
      CHECK(!fcntl(all[i].fd, F_GETOWN_EX, &owner) && owner.pid == all[i].owner.pid &&
                (owner.pid == 0 || owner.type == all[i].owner.type),
            "%s: its owner was %d of type %d, is %d of type %d", all[i].what, all[i].owner.pid, all[i].owner.type,
            owner.pid, owner.type);
      CHECK(own == all[i].own && signal == all[i].signal, "%s: F_GETOWN was %d, is %d; F_GETSIG was %d, is %d",
            all[i].what, all[i].own, own, all[i].signal, signal);
    }
    CHECK((fcntl(ready[0], F_GETFL) & O_ASYNC) && !(fcntl(all[0].fd, F_GETFL) & O_ASYNC), "O_ASYNC");
    pause_ms(2);
  }
  int before = told;
  MUST(write(ready[1], "x", 1) == 1);
  for (int i = 0; i < 500 && told == before; i++) pause_ms(2);
  CHECK(told > before, "nobody was told that a pipe is ready");
  before = urgent;
  MUST(send(calling, "!", 1, MSG_OOB) == 1);
  for (int i = 0; i < 500 && urgent == before; i++) pause_ms(2);
  CHECK(urgent > before, "nobody was told of an urgent byte");
  join_thread(waiting);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
