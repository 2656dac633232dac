/* An MPI program with memory to write: it holds MiB of noise that does not compress, sums over all ranks again and
 * again, and tells at the end whether each sum and its memory were right.
 *
 * usage: ballast MiB FINISH_FILE. `iteration N` every 100 sums; it goes on until FINISH_FILE exists. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t noise(uint64_t *state) /* xorshift64 (Marsaglia 2003) */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Fills the words, or counts those that are not what a fill made of them. */
static long walk(uint64_t *words, size_t count, int rank, int fill)
{
    uint64_t state = 0x9e3779b97f4a7c15u + rank;
    long wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = noise(&state);
        if (fill)
            words[i] = word;
        else
            wrong += words[i] != word;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, finish = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t count = argc == 3 ? (size_t)atol(argv[1]) << 17 : 0;
    uint64_t *words = malloc(count * sizeof *words);
    if (!count || !words)
        MPI_Abort(MPI_COMM_WORLD, 64);
    walk(words, count, rank, 1);
    long wrong = 0, iteration = 0;
    while (!finish) {
        long in[2] = {rank + iteration, rank == 0 && access(argv[2], F_OK) == 0}, out[2];
        MPI_Allreduce(in, out, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong += out[0] != (long)ranks * (ranks - 1) / 2 + ranks * iteration;
        finish = out[1] != 0;
        if (rank == 0 && iteration % 100 == 0) {
            printf("iteration %ld\n", iteration);
            fflush(stdout);
        }
        iteration++;
        usleep(1000); /* the machine has other work */
    }
    wrong += walk(words, count, rank, 0);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && wrong)
        printf("FAIL: %ld words or sums are wrong\n", wrong);
    if (rank == 0 && !wrong)
        puts("PASS");
    free(words);
    MPI_Finalize();
    return wrong != 0;
}
