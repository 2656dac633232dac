/* Ranks that start and end processes all the time: "churn FINISH" computes until the file FINISH exists.
 * Each round every rank runs system("true") or popen, and all add up what they have counted; a rank that lost or
 * doubled something says so. "churn FINISH quiet" leaves the starting of processes to the script around it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "FAIL: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void run_processes(long round)
{
    char line[64] = "";
    if (system("true"))
        fail("system(\"true\")");
    FILE *pipe = popen("echo $((20 + 1))", "r");
    if (!pipe || !fgets(line, sizeof line, pipe) || strcmp(line, "21\n"))
        fail("what a process wrote to a pipe");
    if (pclose(pipe))
        fail("pclose");
    if (round % 7 == 0 && system("exit 5") != 5 << 8)
        fail("an exit code");
}

int main(int argc, char **argv)
{
    int rank, size, end = 0;
    long rounds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2)
        fail("usage: churn FINISH [quiet]");
    while (!end) {
        long sum;
        if (argc == 2)
            run_processes(rounds);
        rounds++;
        MPI_Allreduce(&rounds, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != rounds * size)
            fail("the sum of all rounds");
        if (rank == 0) {
            end = access(argv[1], F_OK) == 0;
            if (argc == 2 ? rounds % 10 == 0 : rounds % 20000 == 0) {
                printf("round %ld\n", rounds);
                fflush(stdout);
            }
        }
        MPI_Bcast(&end, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("PASS\n");
    MPI_Finalize();
    return 0;
}
