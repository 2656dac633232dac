/* Exchanges of many sizes over MPI, each checked; rank 0 prints "right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what, int round)
{
    fprintf(stderr, "%s is wrong in round %d\n", what, round);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void round_of(int round, int rank, int ranks, int *out, int *in)
{
    int count = 1 << (round % 15), next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, sum;
    for (int i = 0; i < count; i++)
        out[i] = rank * 1000003 + round * 17 + i;
    MPI_Sendrecv(out, count, MPI_INT, next, round, in, count, MPI_INT, before, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        if (in[i] != before * 1000003 + round * 17 + i)
            fail("a received message", round);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2)
        fail("a sum", round);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *out = malloc(sizeof(int) << 15), *in = malloc(sizeof(int) << 15);
    for (int round = 0; round < 60; round++)
        round_of(round, rank, ranks, out, in);
    if (!rank)
        puts("right");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
