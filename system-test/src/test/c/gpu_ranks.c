/* MPI ranks whose state is in 'device' memory of the stand-in (system-test/src/test/cuda): each round a kernel adds 1
 * to each number there, and the ranks compare what they read. They end at the file FINISH.
 *
 *   gpu_ranks LIBRARY NUMBERS FINISH [CHAIN]
 *
 * CHAIN, a path: in each round rank 0's kernel waits for the one of rank 1, which makes a file. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY = 20, KERNEL_MS = 2 };

static int (*init)(unsigned), (*create)(void **, unsigned, int), (*allocate)(uint64_t *, size_t);
static int (*host)(void **, size_t, unsigned), (*upload)(uint64_t, const void *, size_t);
static int (*download)(void *, uint64_t, size_t), (*synchronize)(void);
static int (*launch)(uint64_t, size_t, unsigned, const char *, const char *);

static void check(int result, const char *what)
{
    if (result) {
        printf("FAIL %s: %d\n", what, result);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    check(!function, name);
    return function;
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    check(!library, path);
    *(void **)&init = find(library, "cuInit");
    *(void **)&create = find(library, "cuCtxCreate_v2");
    *(void **)&allocate = find(library, "cuMemAlloc_v2");
    *(void **)&host = find(library, "cuMemHostAlloc");
    *(void **)&upload = find(library, "cuMemcpyHtoD_v2");
    *(void **)&download = find(library, "cuMemcpyDtoH_v2");
    *(void **)&synchronize = find(library, "cuCtxSynchronize");
    *(void **)&launch = find(library, "standin_launch");
}

static void start(uint64_t memory, size_t numbers, int rank, int round, const char *chain)
{
    char file[512] = "";
    if (chain)
        snprintf(file, sizeof file, "%s-%d", chain, round);
    check(launch(memory, numbers, KERNEL_MS, rank == 1 ? file : "", rank == 0 ? file : ""), "standin_launch");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, done = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 64);
    size_t numbers = strtoul(argv[2], NULL, 10), bytes = numbers * sizeof(uint32_t);
    load(argv[1]);
    void *context;
    uint64_t memory;
    uint32_t *pinned;
    check(init(0), "cuInit");
    check(create(&context, 0, 0), "cuCtxCreate");
    check(allocate(&memory, bytes), "cuMemAlloc");
    check(host((void **)&pinned, bytes, 0), "cuMemHostAlloc");
    for (size_t i = 0; i < numbers; i++)
        pinned[i] = (uint32_t)i * 7 + (uint32_t)rank;
    check(upload(memory, pinned, bytes), "cuMemcpyHtoD");
    for (uint32_t round = 1; !done; round++) {
        start(memory, numbers, rank, (int)round, argc > 4 ? argv[4] : NULL);
        check(synchronize(), "cuCtxSynchronize");
        check(download(pinned, memory, bytes), "cuMemcpyDtoH");
        for (size_t i = 0; i < numbers; i++)
            check(pinned[i] != (uint32_t)i * 7 + (uint32_t)rank + round, "the device memory differs");
        int wish = access(argv[3], F_OK) == 0;
        MPI_Allreduce(&wish, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (rank == 0 && round % EVERY == 0) {
            printf("iteration %u\n", round);
            fflush(stdout);
        }
    }
    if (rank == 0)
        printf("PASS\n");
    MPI_Finalize();
    return 0;
}
