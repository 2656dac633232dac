/* Starts a rank from its specification file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shepherd.h"

enum { RANK_PMI_FD = 3 };

struct spec {
  char *bytes;
  size_t size;
  const char *directory, *pmi, *input;
  char **arguments, **environment;
};

enum stage { STAGE_PID, STAGE_LIMITS, STAGE_DIRECTORY, STAGE_INPUT, STAGE_PMI, STAGE_EXEC };

struct report { /* from the child, over a close-on-exec pipe: end of file means that the program runs */
  int stage;
  int value; /* STAGE_PID: the host's pid; else errno */
};

static char *next(struct spec *spec, size_t *at) {
  if (*at >= spec->size) return NULL;
  char *start = spec->bytes + *at;
  *at += strlen(start) + 1;
  return start;
}

static void spec_free(struct spec *spec) {
  free(spec->arguments);
  free(spec->environment);
  free(spec->bytes);
}

static int spec_parse(struct spec *spec) {
  size_t at = 0;
  spec->directory = next(spec, &at);
  spec->pmi = next(spec, &at);
  spec->input = next(spec, &at);
  char *count_text = next(spec, &at);
  if (!count_text) return -1;
  char *end;
  long count = strtol(count_text, &end, 10);
  if (*end || count < 1 || count > (long)spec->size) return -1;
  spec->arguments = calloc(count + 1, sizeof(char *));
  spec->environment = calloc(spec->size + 2, sizeof(char *)); /* each takes a byte at least; one for PMI_FD */
  if (!spec->arguments || !spec->environment) return -1;
  for (long i = 0; i < count; i++)
    if (!(spec->arguments[i] = next(spec, &at))) return -1;
  size_t filled = 0;
  for (char *entry; (entry = next(spec, &at));)
    if (strncmp(entry, "PMI_FD=", 7) != 0) spec->environment[filled++] = entry;
  static char pmi_fd[24];
  snprintf(pmi_fd, sizeof pmi_fd, "PMI_FD=%d", RANK_PMI_FD);
  if (*spec->pmi) spec->environment[filled++] = pmi_fd;
  return 0;
}

static int spec_read(struct spec *spec, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) return -1;
  spec->size = status.st_size;
  spec->bytes = malloc(spec->size + 1);
  ssize_t n = spec->bytes ? read(fd, spec->bytes, spec->size) : -1;
  close(fd);
  if (n != (ssize_t)spec->size) return -1;
  spec->bytes[spec->size] = 0;
  if (spec_parse(spec) == 0) return 0;
  errno = EINVAL;
  return -1;
}

static void child_fail(int pipe, enum stage stage) {
  struct report report = {stage, errno};
  if (write(pipe, &report, sizeof report) < 0) _exit(126);
  _exit(127);
}

static void child_run(struct spec *spec, int pmi, int pipe) {
  struct report hello = {STAGE_PID, host_pid_of_self()};
  if (write(pipe, &hello, sizeof hello) < 0) _exit(126);
  setsid(); /* its session and group carry its own pid: they can be restored as they were */
  inherit_signals();
  if (inherit_limits() < 0) child_fail(pipe, STAGE_LIMITS);
  if (chdir(spec->directory) < 0) child_fail(pipe, STAGE_DIRECTORY);
  if (strcmp(spec->input, "stdin") != 0) {
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0) child_fail(pipe, STAGE_INPUT);
  }
  if (pmi == RANK_PMI_FD) {
    if (fcntl(pmi, F_SETFD, 0) < 0) child_fail(pipe, STAGE_PMI);
  } else if (pmi >= 0) {
    /* The pipe may sit where the rank's descriptor must be. */
    if (pipe == RANK_PMI_FD && (pipe = fcntl(pipe, F_DUPFD_CLOEXEC, RANK_PMI_FD + 1)) < 0) _exit(126);
    if (dup2(pmi, RANK_PMI_FD) < 0) child_fail(pipe, STAGE_PMI);
  }
  environ = spec->environment; /* execvp looks for the program in the rank's own PATH */
  execvp(spec->arguments[0], spec->arguments);
  child_fail(pipe, STAGE_EXEC);
}

/* Waits until the program runs; false after an error, which was reported. */
static bool await_exec(int rank, const struct spec *spec, int pipe, pid_t *host_pid) {
  struct report report;
  ssize_t n;
  *host_pid = 0;
  while ((n = read(pipe, &report, sizeof report)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n != sizeof report) break;
    switch ((enum stage)report.stage) {
      case STAGE_PID:
        *host_pid = report.value;
        continue;
      case STAGE_LIMITS:
        agent_say("error rank %d: cannot set the limit of open files: %s", rank, strerror(report.value));
        return false;
      case STAGE_DIRECTORY:
        agent_say("error rank %d: cannot enter directory %s: %s", rank, spec->directory, strerror(report.value));
        return false;
      case STAGE_INPUT:
        agent_say("error rank %d: cannot open /dev/null: %s", rank, strerror(report.value));
        return false;
      case STAGE_PMI:
        agent_say("error rank %d: cannot place the PMI descriptor: %s", rank, strerror(report.value));
        return false;
      case STAGE_EXEC:
        agent_say("error rank %d: cannot execute %s: %s", rank, spec->arguments[0], strerror(report.value));
        return false;
    }
  }
  if (*host_pid == 0) agent_say("error rank %d: died before it could start", rank);
  return *host_pid != 0;
}

static void start(int rank, struct spec *spec, int pmi) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) {
    agent_say("error rank %d: pipe: %s", rank, strerror(errno));
    return;
  }
  pid_t pid = fork();
  if (pid == 0) child_run(spec, pmi, ends[1]);
  close(ends[1]);
  if (pid < 0) {
    agent_say("error rank %d: fork: %s", rank, strerror(errno));
    close(ends[0]);
    return;
  }
  pid_t host_pid;
  if (await_exec(rank, spec, ends[0], &host_pid)) {
    child_add(pid, host_pid, false);
    agent_say("spawned %d %d", rank, host_pid);
  } else {
    waitpid(pid, NULL, 0);
  }
  close(ends[0]);
}

void spawn_rank(int rank, const char *spec_path) {
  struct spec spec = {0};
  if (children_roots() == SHEPHERD_MAX_ROOTS) {
    agent_say("error rank %d: more than %d ranks on one node", rank, SHEPHERD_MAX_ROOTS);
    return;
  }
  if (spec_read(&spec, spec_path) < 0) {
    agent_say("error rank %d: cannot read the specification %s: %s", rank, spec_path, strerror(errno));
    spec_free(&spec);
    return;
  }
  int pmi = -1;
  if (*spec.pmi && (pmi = pmi_open(rank, spec.pmi)) < 0)
    agent_say("error rank %d: cannot open the PMI connection %s: %s", rank, spec.pmi, strerror(errno));
  else start(rank, &spec, pmi);
  if (pmi >= 0) pmi_taken(pmi);
  spec_free(&spec);
}
