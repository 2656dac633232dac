/* An MPI program with a planted bug: in the step that it is told to, rank 1 writes one element more than its window
 * has, onto a value behind it that nobody else changes. It goes on computing, and notices nothing.
 *
 * usage: overrun STEP LOG FINISH_FILE. `step N` every 50 steps, also appended to LOG; it goes on until FINISH_FILE
 * exists, and then prints how large the budget of rank 1 is. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 8, BUDGET = 1000 };

static struct {
    long window[WINDOW];
    long budget;
} field = {.budget = BUDGET};

__attribute__((noinline)) static void fill(long *window, int count, long value)
{
    for (int i = 0; i < count; i++) {
        window[i] = value;
        __asm__ volatile("" ::: "memory"); /* one store after the other */
    }
}

__attribute__((noinline)) static long advance(long step, int count)
{
    long sum = 0, own = step;
    fill(field.window, count, own);
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long bad = argc == 4 ? atol(argv[1]) : 0, wrong = 0, finish = 0;
    FILE *log = rank == 0 && argc == 4 ? fopen(argv[2], "a") : stderr;
    if (argc != 4 || !log)
        MPI_Abort(MPI_COMM_WORLD, 64);
    for (long step = 1; !finish; step++) {
        wrong += advance(step, rank == 1 && step == bad ? WINDOW + 1 : WINDOW) != ranks * step;
        if (rank == 0 && step % 50 == 0) {
            fprintf(log, "step %ld\n", step);
            fflush(log);
            printf("step %ld\n", step);
            fflush(stdout);
        }
        finish = rank == 0 && access(argv[3], F_OK) == 0;
        MPI_Bcast(&finish, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        usleep(1000); /* the machine has other work */
    }
    long budget = field.budget;
    MPI_Bcast(&budget, 1, MPI_LONG, 1, MPI_COMM_WORLD);
    if (rank == 0)
        printf("budget %ld, %ld sums wrong\n", budget, wrong);
    MPI_Finalize();
    return 0;
}
