/*
 * libudckpt-agent.so, loaded by the agent's JVM: SIGQUIT belongs to the job (a terminal's ^\), but the JVM keeps it for
 * thread dumps on the job's standard output, and lets no Java code have it. The handler passes it on by a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct sigaction jvm;
static int pipe_ends[2];
static char attach_here[48], attach_in_tmp[48];

/* jcmd and jstack send SIGQUIT as well, beside such a file (HotSpot's AttachListener::is_init_trigger). */
static int is_attach(void) {
  return access(attach_here, F_OK) == 0 || access(attach_in_tmp, F_OK) == 0;
}

static void pass_on(int number, siginfo_t *info, void *context) {
  int error = errno;
  char byte = number;
  if (is_attach()) jvm.sa_sigaction(number, info, context);
  else if (write(pipe_ends[1], &byte, 1) < 0) {
    /* the pipe is full of them: the job gets those */
  }
  errno = error;
}

/* Returns the descriptor from which each SIGQUIT is read as one byte, or -errno. Once in a process. */
__attribute__((visibility("default"))) int udckpt_agent_take_quit(void) {
  snprintf(attach_here, sizeof attach_here, ".attach_pid%d", getpid());
  snprintf(attach_in_tmp, sizeof attach_in_tmp, "/tmp/.attach_pid%d", getpid());
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  if (pipe2(pipe_ends, O_CLOEXEC) < 0 || fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK) < 0 ||
      sigaction(SIGQUIT, NULL, &jvm) < 0 || sigaction(SIGQUIT, &action, NULL) < 0)
    return -errno;
  return pipe_ends[0];
}
