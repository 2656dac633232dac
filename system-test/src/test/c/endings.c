/* An MPI program that ends in the way its first argument names, so that udckpt run can be compared with mpiexec. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_SECONDS = 60 }; /* the other ranks must be ended, not waited for */

/* The signal that ends rank 1; 0 when `how` names none. */
static int fatal(const char *how)
{
    static const struct {
        const char *how;
        int number;
    } signals[] = {{"kill", SIGKILL}, {"segv", SIGSEGV}, {"abrt", SIGABRT},
                   {"term", SIGTERM}, {"pipe", SIGPIPE}, {"usr1", SIGUSR1}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!strcmp(how, signals[i].how))
            return signals[i].number;
    return 0;
}

static void end_early(const char *how, int rank)
{
    if (rank != 1) {
        sleep(LONG_SECONDS);
        return;
    }
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    int number = fatal(how);
    if (number) {
        signal(number, SIG_DFL); /* UCX handles some of them */
        kill(getpid(), number);
    }
    if (!strcmp(how, "leave"))
        exit(3);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "well";
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank) {
            printf("rank %d of %d, sum %d\n", rank, ranks, sum);
            fflush(stdout);
        }
        usleep(20000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!strcmp(how, "abort") || fatal(how) || !strcmp(how, "leave"))
        end_early(how, rank);
    if (!strcmp(how, "stdin") && rank == 0) {
        int c;
        while ((c = getchar()) != EOF)
            putchar(c);
    }
    MPI_Finalize();
    if (!strcmp(how, "code"))
        return rank == 1 ? 3 : 0;
    if (!strcmp(how, "codes"))
        return rank + 1;
    return 0;
}
