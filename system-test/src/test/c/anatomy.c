/* A program whose insides are known, for those who look at it from outside: globals, memory of each kind, thread-local
 * variables, stack frames with arguments, a thread in a system call and one whose vector registers stay what they are.
 *
 * usage: anatomy FINISH_FILE [CHANGE_FILE]. `ready` when all is in place; when CHANGE_FILE appears it changes known
 * things of each kind and says `changed`; goes on until FINISH_FILE exists. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGISTERS = 16, WIDTH = 32, MANY = 64, PAGE = 4096, WRITTEN = 40, CHANGED = 7, ADDED = 5, REMOVED = 3 };

uint64_t changed_global = 1;               /* in a page of the program's data that was written to */
const uint64_t constants[] = {11, 22, 33}; /* in a page of the program that nobody writes to */
char zeros[3 << 20], *heap, *shared, *mapped;
int ends[2], file;
__thread uint64_t own = 5;
static volatile int over, started;
static unsigned char pattern[REGISTERS * WIDTH];

#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define LOAD(n) "vmovdqu " #n "*32(%[pattern]), %%ymm" #n "\n"
/* zmm31 and k3; they cannot be named as clobbers without -mavx512f, and nothing else here uses them. */
#define LOAD_WIDE "vmovdqu64 64(%[pattern]), %%zmm31\nmov $0x5aa5, %%eax\nkmovw %%eax, %%k3\n"

/* Between the loads and the end no other instruction touches a vector register. */
static __attribute__((noinline)) void keep_vectors(void)
{
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile(LOAD_WIDE : : [pattern] "r"(pattern) : "eax", "memory");
    started++;
    __asm__ volatile(EACH(LOAD) "1: pause\ncmpl $0, %[over]\nje 1b\nvzeroupper\n"
                     :
                     : [pattern] "r"(pattern), [over] "m"(over)
                     : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void *spinner(void *argument)
{
    own = (uint64_t)argument;
    keep_vectors();
    return NULL;
}

static __attribute__((noinline)) int innermost(int depth, const char *why)
{
    char byte;
    started++;
    return depth + (int)read(ends[0], &byte, 1) + (why[0] == '?');
}

static __attribute__((noinline)) int outer(int depth, const char *why)
{
    return depth ? outer(depth - 1, why) * 2 + 1 : innermost(77, why);
}

static void *reader(void *argument)
{
    own = (uint64_t)argument;
    return (void *)(long)outer(3, "a byte that comes late");
}

/* A file of which private pages are written: CHANGE_FILE.map. */
static int map_file(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.map", name);
    file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, MANY * PAGE))
        return 0;
    mapped = mmap(NULL, MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED || lseek(file, 100, SEEK_SET) != 100)
        return 0;
    for (int i = 0; i < WRITTEN; i++)
        mapped[i * PAGE] = (char)(i + 1);
    return 1;
}

/* Ends: nothing wakes it. */
static void *sleeper(void *argument)
{
    pause();
    return argument;
}

static int change(void)
{
    pthread_t thread;
    for (int i = 0; i < CHANGED; i++)
        mapped[i * 2 * PAGE] ^= 0x40;
    for (int i = 0; i < ADDED; i++)
        mapped[(WRITTEN + i) * PAGE] = 1;
    shared[0] = 'x';
    char *more = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED || madvise(mapped + 30 * PAGE, REMOVED * PAGE, MADV_DONTNEED))
        return 0;
    more[0] = 1;
    if (lseek(file, 150, SEEK_SET) != 150 || open("/dev/zero", O_RDONLY) < 0 ||
        pthread_create(&thread, NULL, sleeper, NULL))
        return 0;
    puts("changed");
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int changed = 0;
    if (argc < 2 || argc > 3)
        return 64;
    if (argc == 3 && !map_file(argv[2]))
        return 1;
    changed_global = 0x1122334455667788;
    zeros[2 << 20] = 'z';
    heap = strcpy(malloc(MANY), "text on the heap");
    shared = mmap(NULL, 16 << 10, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(ends))
        return 1;
    strcpy(shared + PAGE, "text in shared memory");
    for (int i = 0; i < REGISTERS * WIDTH; i++)
        pattern[i] = (unsigned char)(i / WIDTH * 16 + i % 4 + 1);
    if (pthread_create(&threads[0], NULL, reader, (void *)101) ||
        pthread_create(&threads[1], NULL, spinner, (void *)102))
        return 1;
    while (started < 2)
        usleep(1000);
    usleep(50000);
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK)) {
        if (argc == 3 && !changed && !access(argv[2], F_OK) && !(changed = change()))
            return 1;
        usleep(10000);
    }
    over = 1;
    if (write(ends[1], "", 1) != 1)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return strcmp(heap, "text on the heap") || zeros[2 << 20] != 'z';
}
