/* Descriptors that send signals when they are ready (O_ASYNC): to a process, a group and a thread, by SIGIO or another
 * signal, or to nobody yet. */
#include "feature.h"
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static _Atomic int ordinary, chosen, descriptor, receiver;
static _Atomic bool done;

static void on_ready(int signum, siginfo_t *info, void *context) {
  if (signum == SIGIO) ordinary++;
  else {
    descriptor = info->si_fd;
    receiver = (int)syscall(SYS_gettid);
    chosen++;
  }
}

static void *worker(void *own) {
  *(_Atomic int *)own = (int)syscall(SYS_gettid);
  while (!done) pause_ms(5);
  return NULL;
}

static void poke(int fd, _Atomic int *count, const char *what) {
  int before = *count;
  MUST(write(fd, "x", 1) == 1);
  for (int i = 0; i < 2000 && *count == before; i++) pause_ms(1);
  CHECK(*count == before + 1, "%s: %d signals", what, *count - before);
}

static void drain(int fd) {
  char bytes[16];
  MUST(read(fd, bytes, sizeof bytes) == 1);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_sigaction = on_ready, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGIO, &action, NULL) && !sigaction(SIGRTMIN + 9, &action, NULL) &&
       (getpgrp() == getpid() || !setpgid(0, 0)));
  int pair[2], other[2], pipes[2], idle[2], on = 1, quiet[2];
  _Atomic int thread_id = 0;
  pthread_t thread = start_thread(worker, (void *)&thread_id);
  while (!thread_id) pause_ms(1);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && !socketpair(AF_UNIX, SOCK_STREAM, 0, other) && !pipe(pipes) &&
       !socketpair(AF_UNIX, SOCK_STREAM, 0, idle) && !pipe(quiet));
  MUST(!ioctl(pair[0], FIOASYNC, &on) && !fcntl(pair[0], F_SETOWN, getpid())); /* as servers do */
  struct f_owner_ex owner = {F_OWNER_TID, thread_id}, group = {F_OWNER_PGRP, getpgrp()};
  MUST(!fcntl(other[0], F_SETOWN_EX, &owner) && !fcntl(other[0], F_SETSIG, SIGRTMIN + 9) &&
       !fcntl(other[0], F_SETFL, O_ASYNC | O_NONBLOCK));
  MUST(!fcntl(pipes[0], F_SETOWN_EX, &group) && !fcntl(pipes[0], F_SETFL, O_ASYNC) &&
       !fcntl(idle[0], F_SETFL, O_ASYNC));
  MUST(write(idle[1], "unread", 6) == 6);
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    poke(pair[1], &ordinary, "a socket's SIGIO"), drain(pair[0]);
    poke(other[1], &chosen, "a socket's own signal"), drain(other[0]);
    CHECK(descriptor == other[0] && receiver == thread_id, "the signal came for descriptor %d to thread %d", descriptor,
          receiver);
    poke(pipes[1], &ordinary, "a pipe's SIGIO to the group"), drain(pipes[0]);
    pause_ms(5);
  }
  struct f_owner_ex now;
  MUST(!fcntl(other[0], F_GETOWN_EX, &now));
  CHECK(now.type == F_OWNER_TID && now.pid == thread_id && fcntl(other[0], F_GETSIG) == SIGRTMIN + 9,
        "the owner is %d of type %d", now.pid, now.type);
  CHECK(
      fcntl(pair[0], F_GETOWN) == getpid() && fcntl(pipes[0], F_GETOWN) == -getpgrp() && fcntl(idle[0], F_GETOWN) == 0,
      "another owner");
  check_flags(pair[0], O_RDWR | O_ASYNC, 0, "pair"), check_flags(other[0], O_RDWR | O_ASYNC | O_NONBLOCK, 0, "other");
  check_flags(pipes[0], O_RDONLY | O_ASYNC, 0, "pipe"), check_flags(idle[0], O_RDWR | O_ASYNC, 0, "idle"),
      check_flags(quiet[0], O_RDONLY, 0, "quiet");
  done = true;
  join_thread(thread);
  return feature_pass();
}
