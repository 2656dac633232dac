/*
 * What a rank has from the user's shell, although the launcher's JVM stands between them: it raises the soft limit of
 * open files to the hard one, and posix_spawn(3) leaves glibc's own two signals ignored in a child
 * (sysdeps/unix/sysv/linux/spawni.c), where signal(2) cannot reach them.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shepherd.h"

#define OPEN_FILES "UDCKPT_SHELL_OPEN_FILES" /* written down by the udckpt script: what ulimit -Sn says */
#define BIT(number) (1ULL << ((number)-1))

enum { KERNEL_SIGNALS = 64, GLIBC_CANCEL = 32, GLIBC_SETXID = 33 };

struct kernel_action { /* rt_sigaction(2) of x86-64 */
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static uint64_t ignored; /* by a rank, from its start */
static bool limited;
static rlim_t open_files;

/*
 * mpiexec (MPICH 4.0.2) passes on what its shell ignores (nohup), but for the signals that it handles itself; and it
 * ignores SIGTTIN, as to read a terminal that is not its own session's must not stop a rank.
 */
static uint64_t inherited_ignored(void) {
  const uint64_t reset = BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGUSR1) | BIT(SIGPIPE) | BIT(SIGALRM) | BIT(SIGTERM) |
                         BIT(SIGTSTP) | BIT(SIGCHLD) | BIT(GLIBC_CANCEL) | BIT(GLIBC_SETXID);
  uint64_t found = 0;
  for (int number = 1; number <= KERNEL_SIGNALS; number++) {
    struct kernel_action action;
    if (syscall(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 && action.handler == SIG_IGN)
      found |= BIT(number);
  }
  return (found & ~reset) | BIT(SIGTTIN);
}

/* Before the shepherd sets its own signals. False, with a message, when the limit is no limit. */
bool inherit_read(void) {
  ignored = inherited_ignored();
  const char *text = getenv(OPEN_FILES);
  if (!text) return true;
  char *end = NULL;
  errno = 0;
  open_files = strcmp(text, "unlimited") == 0 ? RLIM_INFINITY : strtoul(text, &end, 10);
  limited = open_files == RLIM_INFINITY || (end != text && *end == 0 && errno == 0);
  if (!limited) fprintf(stderr, "udckpt: shepherd: " OPEN_FILES " is not a limit of open files: %s\n", text);
  return limited;
}

/* In a new rank. A signal that no process may handle (SIGKILL, SIGSTOP) is refused by the kernel, and as it should
 * be. */
void inherit_signals(void) {
  for (int number = 1; number <= KERNEL_SIGNALS; number++) {
    struct kernel_action action = {.handler = ignored & BIT(number) ? SIG_IGN : SIG_DFL};
    syscall(SYS_rt_sigaction, number, &action, NULL, sizeof action.mask);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In a new rank; -1 with errno. */
int inherit_limits(void) {
  struct rlimit limit;
  if (!limited) return 0;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
  limit.rlim_cur = open_files < limit.rlim_max ? open_files : limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit);
}
