/* udckpt-guard PROGRAM NAME [ARG...]: runs the lead of a job on several hosts that is to be restarted on failure, and
 * starts it again when it is lost: killed for lack of memory, or by hand (docs/user/restart.md, "The lead"). PROGRAM is
 * the file to execute, NAME its argv[0]. The guard has the pid of the command that the user started: that command
 * executes the guard (LeadGuard.java) and runs again as its child, in the same process group, on the same terminal.
 *
 * Both share a memfd (UDCKPT_GUARD is its number), into which the lead writes lines of text for its successor
 * (LeadGuard.write). The guard reads three of the six: `wait MILLISECONDS` until no rank of the lost incarnation can
 * run any more, `newest ID` of its checkpoints, `limit N` of losses without a newer one. `name`, `before` and `lost`
 * are for the successor, which finds all six in UDCKPT_LOST_LEAD. While the memfd is empty, a lost lead is not
 * replaced. */
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 4096, EX_IO = 74 };

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
enum { FORWARDED = sizeof forwarded / sizeof forwarded[0] };
static struct sigaction before[FORWARDED];
static volatile sig_atomic_t lead;      /* its pid; 0: there is none */
static volatile sig_atomic_t end_asked; /* the signal that asked for the job's end */

/* Signals from the terminal reach the lead directly: it is in the same process group. */
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  if (number == SIGINT || number == SIGQUIT || number == SIGTERM) {
    end_asked = number;
  }
  if (lead != 0 && info->si_code <= 0) {
    kill(lead, number);
  }
}

static void take_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* the mask is a JVM thread's */
  for (int i = 0; i < FORWARDED; i++) {
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    sigaction(forwarded[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) { /* nohup */
      sigaction(forwarded[i], &action, NULL);
    }
  }
  signal(SIGTSTP, SIG_IGN); /* the lead does not stop either */
}

static _Noreturn void become_lead(char **words, pid_t guard) {
  for (int i = 0; i < FORWARDED; i++) {
    sigaction(forwarded[i], &before[i], NULL);
  }
  signal(SIGTSTP, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a user who kills the command expects the job to end */
  if (getppid() != guard) {
    _exit(EX_IO);
  }
  execv(words[0], words + 1);
  fprintf(stderr, "udckpt: guard: %s cannot be started: %s\n", words[0], strerror(errno));
  _exit(EX_IO);
}

/* Runs the lead until it ends. Returns its status as wait(2) does. */
static int live(char **words) {
  pid_t guard = getpid();
  pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "udckpt: guard: fork: %s\n", strerror(errno));
    exit(EX_IO);
  }
  if (child == 0) {
    become_lead(words, guard);
  }
  lead = child;
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  lead = 0;
  return status;
}

static long number(const char *text, const char *name) {
  for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL) {
    size_t length = strlen(name);
    if (strncmp(line, name, length) == 0 && line[length] == ' ') {
      return strtol(line + length + 1, NULL, 10);
    }
  }
  return 0;
}

/* Ends as the lead ended, so that the caller sees the same status as without a guard. */
static _Noreturn void end_as(int status) {
  if (WIFEXITED(status)) {
    exit(WEXITSTATUS(status));
  }
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  exit(128 + WTERMSIG(status)); /* a signal whose default does not end a process */
}

static void wait_for_ranks(long milliseconds) {
  struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (end_asked == 0 && nanosleep(&left, &left) < 0 && errno == EINTR) {
  }
  if (end_asked != 0) {
    fprintf(stderr, "udckpt: the job is not restarted: it received signal %d\n", (int)end_asked);
    exit(128 + end_asked);
  }
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: udckpt-guard PROGRAM NAME [ARG...]\n");
    return 64;
  }
  /* the JVM's descriptors; kernels before 5.9 keep them open, which does no harm */
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_UNSHARE);
  int shared = memfd_create("udckpt-guard", 0);
  if (shared < 0 || ftruncate(shared, TEXT) < 0) {
    fprintf(stderr, "udckpt: guard: memfd_create: %s\n", strerror(errno));
    return EX_IO;
  }
  char *text = mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  if (text == MAP_FAILED) {
    fprintf(stderr, "udckpt: guard: mmap: %s\n", strerror(errno));
    return EX_IO;
  }
  char descriptor[16];
  snprintf(descriptor, sizeof descriptor, "%d", shared);
  setenv("UDCKPT_GUARD", descriptor, 1);
  unsetenv("UDCKPT_LOST_LEAD");
  take_signals();
  long newest = 0, losses = 0;
  for (;;) {
    int status = live(words + 1);
    text[TEXT - 1] = 0;
    if (!WIFSIGNALED(status) || end_asked != 0 || number(text, "newest") == 0) {
      end_as(status);
    }
    losses = number(text, "newest") > newest ? 1 : losses + 1;
    newest = number(text, "newest");
    long limit = number(text, "limit"), wait = number(text, "wait");
    if (losses > limit) {
      fprintf(stderr,
              "udckpt: the job's lead was killed by signal %d, loss %ld without a new checkpoint: it is "
              "not started again\n",
              WTERMSIG(status), losses);
      end_as(status);
    }
    fprintf(stderr,
            "udckpt: the job's lead was killed by signal %d (%s); its agents end the ranks within %.1f s, then the "
            "job continues from its newest checkpoint (loss %ld of at most %ld without a new checkpoint)\n",
            WTERMSIG(status), strsignal(WTERMSIG(status)), wait / 1e3, losses, limit);
    setenv("UDCKPT_LOST_LEAD", text, 1);
    memset(text, 0, TEXT);
    wait_for_ranks(wait);
  }
}
