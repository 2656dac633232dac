/* A program whose insides are known, for those who look at it from outside: globals, memory of each kind, thread-local
 * variables, stack frames with arguments, a thread in a system call and one whose vector registers stay what they are.
 *
 * usage: anatomy FINISH_FILE. `ready` when all is in place; goes on until FINISH_FILE exists. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGISTERS = 16, WIDTH = 32, MANY = 64 };

uint64_t changed_global = 1;                            /* in a page of the program's data that was written to */
const uint64_t constants[] = {11, 22, 33};              /* in a page of the program that nobody writes to */
char zeros[3 << 20], *heap, *shared;
int ends[2];
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
    if (__builtin_cpu_supports("avx512f")) __asm__ volatile(LOAD_WIDE : : [pattern] "r"(pattern) : "eax", "memory");
    started++;
    __asm__ volatile(EACH(LOAD) "1: pause\ncmpl $0, %[over]\nje 1b\nvzeroupper\n"
                     : : [pattern] "r"(pattern), [over] "m"(over)
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

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc != 2) return 64;
    changed_global = 0x1122334455667788;
    zeros[2 << 20] = 'z';
    heap = strcpy(malloc(MANY), "text on the heap");
    shared = mmap(NULL, 16 << 10, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(ends)) return 1;
    strcpy(shared + 4096, "text in shared memory");
    for (int i = 0; i < REGISTERS * WIDTH; i++) pattern[i] = (unsigned char)(i / WIDTH * 16 + i % 4 + 1);
    if (pthread_create(&threads[0], NULL, reader, (void *)101) || pthread_create(&threads[1], NULL, spinner, (void *)102)) return 1;
    while (started < 2) usleep(1000);
    usleep(50000);
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK)) usleep(10000);
    over = 1;
    if (write(ends[1], "", 1) != 1) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return strcmp(heap, "text on the heap") || zeros[2 << 20] != 'z';
}
