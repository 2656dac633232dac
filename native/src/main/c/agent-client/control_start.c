/* Runs when the library is loaded. It does not connect to the agent: most processes of a job (a shell's commands, a
 * program's helpers) never open a device, and a job may start and end them faster than an agent could answer. */
#include "control.h"
#include "common/environment.h"
#include <stdlib.h>
#include <string.h>

struct control control = {.started_rank = -1, .mpi_rank = -1, .rank = -1, .fd = -1};

/* The rank in an environment variable; -1: it is not set, -2: it is not a number. */
static int rank_of(const char *name)
{
    const char *text = environment_get(name);
    char *end;
    if (!text || !*text)
        return -1;
    long rank = strtol(text, &end, 10);
    return *end || rank < 0 || rank > INT32_MAX ? -2 : (int)rank;
}

static int started_rank_from_environment(void)
{
    int rank = rank_of("UDCKPT_RANK");
    if (rank == -2)
        control_log("UDCKPT_RANK=\"%s\" is not a rank", environment_get("UDCKPT_RANK"));
    return rank >= 0 ? rank : -1;
}

/* Open MPI's mpirun, PMIx and PMI-1 in this order: a launcher built on another one sets its own variable too, so the
 * outermost is asked first. */
static int mpi_rank_from_environment(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        int rank = rank_of(names[i]);
        if (rank >= 0)
            return rank;
    }
    return -1;
}

__attribute__((constructor(102))) static void start(void)
{
    const char *directory = environment_get("UDCKPT_RUNTIME_DIR");
    control.started_rank = started_rank_from_environment();
    control.mpi_rank = mpi_rank_from_environment();
    if (!directory || !*directory)
        return;
    if (strlen(directory) >= sizeof control.named_dir) {
        control_log("UDCKPT_RUNTIME_DIR=%s is longer than %zu bytes; this process runs without checkpoints", directory,
                    sizeof control.named_dir - 1);
        return;
    }
    strcpy(control.named_dir, directory);
}
