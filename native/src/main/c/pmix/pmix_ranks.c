/* Starts the unit's ranks and waits for them; what the end of one means for the others is as MPICH's mpiexec has it
 * (RankTable, Java). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmix_launcher.h"

enum { FINALIZED_MS = 5000 };

struct rank {
  pid_t pid;
  atomic_bool connected, finalized; /* MPI_Init, MPI_Finalize */
};

static const struct unit *unit;
static struct rank *ranks;

/* As mpirun tells its ranks, for programs and scripts that look there. */
static void name_rank(const struct layout *layout, int rank) {
  const struct {
    const char *name;
    int value;
  } all[] = {{"OMPI_COMM_WORLD_RANK", rank},
             {"OMPI_COMM_WORLD_SIZE", layout->ranks},
             {"OMPI_COMM_WORLD_LOCAL_RANK", rank - unit->first},
             {"OMPI_COMM_WORLD_LOCAL_SIZE", unit->count}};
  char value[16];
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    snprintf(value, sizeof value, "%d", all[i].value);
    if (setenv(all[i].name, value, 1)) die("out of memory");
  }
}

static pid_t start(int rank, char **command, const sigset_t *mask) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  pid_t pid;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&how, mask);
  if (rank > 0) posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0); /* standard input is rank 0's */
  char **environment = server_environment(rank, environ);
  int error = posix_spawnp(&pid, command[0], &files, &how, command, environment);
  if (error) die("rank %d: cannot execute %s: %s", rank, command[0], strerror(error));
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  for (char **at = environment; *at; at++) free(*at);
  free(environment);
  return pid;
}

void ranks_start(const struct layout *layout, char **command, const sigset_t *mask) {
  unit = layout->own;
  if (!(ranks = calloc(unit->count, sizeof *ranks))) die("out of memory");
  const char *own[] = {"PMI_FD", "PMI_RANK"}; /* PMI-1 is between the launcher and the agent alone */
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) unsetenv(own[i]);
  for (int i = 0; i < unit->count; i++) {
    name_rank(layout, unit->first + i);
    ranks[i].pid = start(unit->first + i, command, mask);
  }
}

void rank_connected(int rank) {
  ranks[rank - unit->first].connected = true;
}
void rank_finalized(int rank) {
  ranks[rank - unit->first].finalized = true;
}

/* MPI has no way to go on without this rank: waits for the agent to end the job, and this process with it. */
static _Noreturn void abort_job(int rank, int code) {
  pmi1_abort(rank, code);
  for (;;) pause();
}

/* A rank does not wait for the answer to its PMIx_Finalize for long, and may be gone before this process's other
 * thread has read of it. */
static bool has_finalized(struct rank *rank) {
  for (int i = 0; i < FINALIZED_MS && !rank->finalized; i++) usleep(1000);
  return rank->finalized;
}

static int code_of(int index, int status) {
  int rank = unit->first + index;
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "udckpt-pmix: rank %d (process %d) was ended by signal %d (%s)\n", rank, ranks[index].pid,
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    abort_job(rank, status & 0xff);
  }
  if (ranks[index].connected && !has_finalized(&ranks[index])) {
    fprintf(stderr, "udckpt-pmix: rank %d (process %d) left without MPI_Finalize\n", rank, ranks[index].pid);
    abort_job(rank, WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
  }
  return WEXITSTATUS(status);
}

int ranks_await(void) {
  int code = 0, status;
  for (int left = unit->count; left > 0;) {
    pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno != EINTR) die("waiting for the ranks: %s", strerror(errno));
    for (int i = 0; pid > 0 && i < unit->count; i++) {
      if (ranks[i].pid != pid) continue;
      code |= code_of(i, status);
      left--;
    }
  }
  return code;
}
