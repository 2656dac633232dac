/* The connection to the process manager, where the environment does not tell which descriptor it is: the job's first
 * process has closed it and has something else under its number (a daemon that closes all), and a child still has it
 * and has written its title over the environment. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

static void overwrite_environment(void) {
  for (char **one = environ; *one; one++) memset(*one, ' ', strlen(*one));
}

/* One question and its answer (PMI-1). */
static void ask(int manager, const char *question, const char *expected) {
  char answer[1024];
  size_t filled = 0;
  MUST(write(manager, question, strlen(question)) == (ssize_t)strlen(question));
  while (!filled || answer[filled - 1] != '\n') {
    ssize_t got = read(manager, answer + filled, sizeof answer - 1 - filled);
    CHECK(got > 0, "the process manager does not answer '%s'", question);
    filled += (size_t)got;
  }
  answer[filled] = 0;
  CHECK(!strncmp(answer, expected, strlen(expected)), "the process manager says '%s'", answer);
}

static void serve_child(int manager) {
  feature_child();
  overwrite_environment();
  MUST(!mkdir(scratch("begun"), 0700));
  while (!feature_finishing()) pause_ms(2);
  if (manager >= 0) { /* not before: who is in MPI_Init is not checkpointed */
    ask(manager, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init");
    ask(manager, "cmd=get_universe_size\n", "cmd=universe_size");
    ask(manager, "cmd=finalize\n", "cmd=finalize_ack");
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  const char *number = getenv("PMI_FD");
  int manager = number ? atoi(number) : -1, pair[2]; /* only a command has one: FeatureCommandLineTest */
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) serve_child(manager);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  if (manager < 0) manager = 3;
  MUST(pair[0] == manager || (dup2(pair[0], manager) == manager && !close(pair[0])));
  while (access(scratch("begun"), F_OK)) pause_ms(1);
  feature_ready();
  for (uint64_t sent = 1, got = 0; !feature_finishing(); sent++) {
    MUST(write(manager, &sent, sizeof sent) == sizeof sent);
    pause_ms(1);
    CHECK(read(pair[1], &got, sizeof got) == sizeof got && got == sent, "%llu came, not %llu", (unsigned long long)got,
          (unsigned long long)sent);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child && !status);
  return feature_pass();
}
