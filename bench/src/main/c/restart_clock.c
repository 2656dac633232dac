/* An MPI program with memory to restore, for bench/restart: each rank holds MiB of noise, and looks at the clock all
 * the time. After a gap of more than half a second, which only a restart makes, it says when it ran again.
 *
 * usage: restart_clock MiB DIRECTORY. Makes DIRECTORY/ready.RANK when its memory is filled, and DIRECTORY/resumed.RANK
 * (nanoseconds since 1970); ends when DIRECTORY/finish is there, with PASS if its memory is what it was. The ranks do
 * not wait for each other in between: a rank that waits spins, and two processors are few. */
#include "ballast.h"
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void note(const char *directory, const char *name, int rank, int64_t value)
{
    char path[PATH_MAX], hidden[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, rank);
    snprintf(hidden, sizeof hidden, "%s.part", path);
    FILE *file = fopen(hidden, "w");
    if (!file || fprintf(file, "%lld\n", (long long)value) < 0 || fclose(file) || rename(hidden, path))
        fail("cannot write the time");
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        fail("usage: restart_clock MiB DIRECTORY");
    char finish[PATH_MAX];
    snprintf(finish, sizeof finish, "%s/finish", argv[2]);
    struct ballast ballast = {0};
    load_ballast(&ballast, atol(argv[1]), rank);
    note(argv[2], "ready", rank, clock_now());
    for (int64_t last = clock_now(), now; access(finish, F_OK); last = now) {
        usleep(500);
        if (access(argv[2], F_OK))
            fail("the directory is gone"); /* and with it whoever wanted to know */
        now = clock_now();
        if (now - last > 500000000)
            note(argv[2], "resumed", rank, now);
    }
    weigh_ballast(&ballast);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("PASS");
    MPI_Finalize();
    return 0;
}
