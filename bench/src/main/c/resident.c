/* A process with memory and nothing else, for benchmarks of the image writer: no MPI, so that no rank polls while it
 * waits.
 *
 *   resident MIB noise|numbers|matrix small|huge FINISH [BUSY]
 *
 * noise does not compress, numbers are what a smooth field looks like in double precision, matrix is a 27-point
 * operator by rows as HPCG holds it (values and column numbers). Once the memory is filled, some lines `fork US`: what
 * forks of it take, bare; then `ready`. Then it sleeps until FINISH exists, or with BUSY (microseconds) writes to one
 * page after another in random order all the time and prints every so often how many it has written, and when
 * (microseconds): `pages N T` a line. SIGUSR1 makes it fork a child that only waits (for comparison: a snapshot that
 * nobody reads), SIGUSR2 ends the child; SIGHUP makes it write to one page of a hundred, others each time, and SIGALRM
 * to all pages once: `wrote N US` says how many, and how long that took. SIGWINCH makes it say again what forks take.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
static volatile sig_atomic_t wanted;

static void want(int signal)
{
    wanted = signal;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static uint64_t noise(uint64_t *state) /* xorshift64 (Marsaglia 2003) */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

enum { POINTS = 27, GRID = 104 }; /* HPCG's default grid of a rank */

/* A row: 27 values, then the columns' numbers. */
static void fill_matrix(char *memory, size_t bytes)
{
    const size_t row = POINTS * (sizeof(double) + sizeof(int32_t));
    for (size_t r = 0; (r + 1) * row <= bytes; r++) {
        double *values = (double *)(memory + r * row);
        int32_t *columns = (int32_t *)(values + POINTS);
        for (int p = 0; p < POINTS; p++) {
            int dx = p % 3 - 1, dy = p / 3 % 3 - 1, dz = p / 9 - 1;
            values[p] = p == POINTS / 2 ? 26.0 : -1.0;
            columns[p] = (int32_t)r + dx + GRID * (dy + GRID * dz);
        }
    }
}

static void fill(char *memory, size_t bytes, const char *content)
{
    uint64_t state = 0x9e3779b97f4a7c15u + getpid();
    if (!strcmp(content, "matrix")) {
        fill_matrix(memory, bytes);
        return;
    }
    for (size_t i = 0; i < bytes / 8; i++) {
        if (!strcmp(content, "numbers"))
            ((double *)memory)[i] =
                (float)(sin(i * 1e-4) * cos(i * 3e-7)); /* single precision in double: the low half is mostly zero */
        else
            ((uint64_t *)memory)[i] = noise(&state);
    }
}

/* The child is a snapshot that nobody reads. */
static pid_t hold(pid_t child)
{
    if (wanted == SIGUSR1 && !child && !(child = fork())) {
        for (;;)
            pause();
    }
    if (wanted == SIGUSR2 && child) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        child = 0;
    }
    wanted = 0;
    return child;
}

/* To each page of `step` ones. */
static void sweep(char *memory, size_t bytes, size_t step)
{
    static size_t first;
    size_t pages = 0;
    int64_t begin = now_us();
    for (size_t page = step == 1 ? 0 : first++ % step; page < bytes / PAGE; page += step, pages++)
        memory[page * PAGE + 16]++;
    printf("wrote %zu %ld\n", pages, (long)(now_us() - begin));
    fflush(stdout);
}

/* What no checkpoint by a fork can be faster than: how long the process does not run for its page tables being copied.
 */
static void time_forks(void)
{
    for (int i = 0; i < 5; i++) {
        int64_t begin = now_us();
        pid_t child = fork();
        if (child == 0)
            for (;;)
                pause();
        int64_t end = now_us();
        if (child < 0)
            return;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        printf("fork %ld\n", (long)(end - begin));
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: resident MIB noise|numbers|matrix small|huge FINISH [BUSY_US]\n");
        return 64;
    }
    size_t bytes = (size_t)atol(argv[1]) << 20;
    long busy = argc > 5 ? atol(argv[5]) : 0;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    madvise(memory, bytes, strcmp(argv[3], "huge") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    fill(memory, bytes, argv[2]);
    time_forks();
    signal(SIGUSR1, want);
    signal(SIGUSR2, want);
    signal(SIGHUP, want);
    signal(SIGALRM, want);
    signal(SIGWINCH, want);
    printf("ready\n");
    fflush(stdout);
    pid_t child = 0;
    uint64_t written = 0, state = 88172645463325252u;
    int64_t next = now_us() + busy;
    while (access(argv[4], F_OK)) {
        if (wanted == SIGHUP || wanted == SIGALRM) {
            int all = wanted == SIGALRM;
            wanted = 0;
            sweep(memory, bytes, all ? 1 : 100);
        }
        if (wanted == SIGWINCH) {
            wanted = 0;
            time_forks();
        }
        if (wanted)
            child = hold(child);
        if (!busy) {
            usleep(20000);
            continue;
        }
        for (int i = 0; i < 512; i++, written++)
            memory[noise(&state) % (bytes / PAGE) * PAGE + 8]++;
        if (now_us() >= next) {
            printf("pages %lu %lu\n", (unsigned long)written, (unsigned long)now_us());
            fflush(stdout);
            next += busy;
        }
    }
    if (child)
        kill(child, SIGKILL);
    return 0;
}
