/* An MPI program that writes files in all the ways that codes do: a log by stdio, opened for appending; a trajectory,
 * written one record after the other; a scratch file, written in place; a table, mapped shared; a restart file, written
 * beside and renamed; new files now and then; and one file of all ranks by MPI-IO. What is in them depends on the
 * number of steps and ranks only.
 *
 * usage: output_files DIRECTORY STEPS FINISH_FILE. `step N` every 20 steps, `result STEPS` at the end. STEPS 0: until
 * FINISH_FILE exists. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD = 4096, SCRATCH = 64 * RECORD, TABLE = 16 * RECORD, SHARED = 64 };
static int rank, ranks;

static void must(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 70);
}

static const char *name(const char *base, long number)
{
    static char text[100];
    snprintf(text, sizeof text, "%s.%d.%ld", base, rank, number);
    return text;
}

static void fill(char *record, size_t size, long step)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = (step * 1000 + rank) * 0x9e3779b97f4a7c15u + i;
        memcpy(record + i, &word, 8);
    }
}

static void restart_file(long step)
{
    FILE *file = fopen(name("restart/new", 0), "w");
    must(file != NULL, "restart/new");
    char record[RECORD];
    fill(record, RECORD, step);
    for (int i = 0; i < 20; i++)
        must(fwrite(record, RECORD, 1, file) == 1, "write");
    must(!fclose(file), "close");
    char new[100];
    strcpy(new, name("restart/new", 0));
    must(!rename(new, name("restart/state", 0)), "rename");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 4 && !chdir(argv[1]), "directory");
    long steps = atol(argv[2]);
    if (rank == 0)
        must(!mkdir("restart", 0755), "restart");
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *log = fopen(name("log", 0), "a"), *trajectory = fopen(name("trajectory", 0), "w");
    int scratch = open(name("scratch", 0), O_RDWR | O_CREAT | O_EXCL, 0640),
        table = open(name("table", 0), O_RDWR | O_CREAT | O_EXCL, 0600);
    must(log && trajectory && scratch >= 0 && table >= 0, "open");
    must(!ftruncate(scratch, SCRATCH) && !ftruncate(table, TABLE), "truncate");
    uint64_t *mapped = mmap(NULL, TABLE, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
    must(mapped != MAP_FAILED, "mmap");
    close(table);
    MPI_File shared;
    must(MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &shared) ==
             MPI_SUCCESS,
         "MPI_File_open");
    char record[RECORD];
    int finish = 0;
    long step = 0;
    for (; steps ? step < steps : !finish; step++) {
        fill(record, RECORD, step);
        fprintf(log, "rank %d step %ld\n", rank, step);
        must(fwrite(record, RECORD, 1, trajectory) == 1, "trajectory");
        must(pwrite(scratch, record, RECORD, step * RECORD % SCRATCH) == RECORD, "scratch");
        mapped[step % (TABLE / 8)] += step;
        if (step % 25 == 0)
            restart_file(step);
        must(MPI_File_write_at_all(shared, (step * ranks + rank) * SHARED, record, SHARED, MPI_BYTE,
                                   MPI_STATUS_IGNORE) == MPI_SUCCESS,
             "MPI_File_write_at_all");
        FILE *extra = fopen(name("extra", step / 50), "a");
        must(extra && fprintf(extra, "step %ld\n", step) > 0 && !fclose(extra), "extra");
        int asked = rank == 0 && access(argv[3], F_OK) == 0;
        MPI_Allreduce(&asked, &finish, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && step % 20 == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
        if (!steps)
            usleep(2000); /* the machine has other work */
    }
    MPI_File_close(&shared);
    must(!fclose(log) && !fclose(trajectory) && !close(scratch) && !munmap(mapped, TABLE), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("result %ld\n", step);
    MPI_Finalize();
    return 0;
}
