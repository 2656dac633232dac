/* Changes its memory in all ways that a program has, at random: writers DIRECTORY SEED. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(x) \
    do { \
        if ((long)(x) < 0) { \
            perror(#x); \
            exit(1); \
        } \
    } while (0)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { PAGE = 4096, SLOT = 2 << 20, SLOTS = 24, PAGES = SLOT / PAGE, DATA = 64 * PAGE };

static char *area, *noise;
static int file, direct, pair[2];
static uint64_t state;

static uint64_t random_below(uint64_t most) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % most;
}

static char *slot(void) {
    return area + random_below(SLOTS) * SLOT;
}

static char *some_page(void) {
    return slot() + random_below(PAGES) * PAGE;
}

static void fill(char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) *(uint64_t *)(at + i) = random_below(~0ULL);
}

static void map(char *at, int flags, int fd) {
    MUST(mmap(at, SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | flags, fd, 0) == MAP_FAILED ? -1 : 0);
}

static void write_some(void) {
    for (int i = (int)random_below(20); i >= 0; i--) some_page()[random_below(PAGE)]++;
}

static void fill_slot(void) {
    fill(slot(), SLOT);
}

static void map_anew(void) {
    map(slot(), MAP_ANONYMOUS, -1);
}

static void map_file(void) {
    char *at = slot();
    map(at, 0, file);
    for (int i = 0; i < 5; i++) at[random_below(DATA)]++;
    /* what is behind the file's end may not be touched */
    MUST(mmap(at + DATA, SLOT - DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) ==
                 MAP_FAILED
             ? -1
             : 0);
}

static void forget(void) {
    madvise(some_page(), PAGE, random_below(2) ? MADV_DONTNEED : MADV_FREE);
}

/* A slot's memory goes to another one's place. */
static void move(void) {
    char *from = slot(), *to = slot();
    if (from == to) return;
    MUST(munmap(to, SLOT));
    if (mremap(from, SLOT / 2, SLOT / 2, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        MUST(errno == EFAULT ? 0 : -1); /* it is of several mappings, of which some may be there (Linux 6.17) */
        map(to, MAP_ANONYMOUS, -1);
        map(from, MAP_ANONYMOUS, -1);
        return;
    }
    map(from, MAP_ANONYMOUS, -1);
    MUST(mmap(to + SLOT / 2, SLOT / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) ==
                 MAP_FAILED
             ? -1
             : 0);
}

static void protect(void) {
    char *at = some_page();
    int writes = (int)random_below(2);
    MUST(mprotect(at, PAGE, PROT_READ));
    MUST(mprotect(at, PAGE, PROT_READ | PROT_WRITE));
    at[5] += (char)writes;
}

static void child_writes(void) {
    pid_t child = fork();
    MUST(child);
    if (!child) {
        write_some();
        _exit(0);
    }
    write_some();
    MUST(waitpid(child, NULL, 0));
}

/* By another process. */
static void child_writes_here(void) {
    char *at = some_page();
    pid_t parent = getpid(), child = fork();
    MUST(child);
    if (!child) {
        struct iovec from = {noise + random_below(DATA - PAGE), PAGE}, to = {at, PAGE};
        _exit(process_vm_writev(parent, &from, 1, &to, 1, 0) != PAGE);
    }
    MUST(waitpid(child, NULL, 0));
}

static void read_in(void) {
    MUST(pread(file, some_page(), PAGE, (off_t)random_below(DATA - PAGE)));
}

static void read_past_cache(void) {
    MUST(pread(direct, some_page(), PAGE, (off_t)random_below(DATA / PAGE) * PAGE));
}

static void receive(void) {
    char *at = some_page();
    MUST(send(pair[0], noise + random_below(DATA - PAGE), PAGE, 0));
    MUST(recv(pair[1], at, PAGE, 0));
}

static void huge(void) {
    char *at = slot();
    madvise(at, SLOT, random_below(2) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (random_below(2)) madvise(at, SLOT, MADV_COLLAPSE);
    at[random_below(SLOT)]++;
}

static void same_pages(void) {
    char *at = slot();
    madvise(at, SLOT, random_below(2) ? MADV_MERGEABLE : MADV_UNMERGEABLE);
    for (int i = 0; i < 20; i++) memset(at + random_below(PAGES) * PAGE, 7, PAGE);
}

static void reclaim(void) {
    madvise(some_page(), PAGE, random_below(2) ? MADV_PAGEOUT : MADV_COLD);
}

static void heap(void) {
    char *some = malloc(random_below(200000) + 1);
    fill(some, 1);
    free(some);
}

static void *beside(void *unused) {
    static uint64_t mine = 88172645463325252ULL;
    for (;;) {
        mine ^= mine << 13;
        mine ^= mine >> 7;
        mine ^= mine << 17;
        /* another thread may have mapped a place anew: it is there at all times but for a moment of move() */
        noise[mine % DATA]++;
        usleep(500);
    }
    return unused;
}

int main(int argc, char **argv) {
    static void (*const ways[])(void) = {
        write_some, fill_slot,       map_anew, map_file, forget,     move,    protect, child_writes, child_writes_here,
        read_in,    read_past_cache, receive,  huge,     same_pages, reclaim, heap,    write_some,   write_some};
    pthread_t thread;
    if (argc != 3) return 64;
    MUST(chdir(argv[1]));
    state = strtoull(argv[2], NULL, 10) * 2654435761ULL + 1;
    area = mmap(NULL, (SLOTS + 1) * (size_t)SLOT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(area == MAP_FAILED ? -1 : 0);
    area = (char *)(((uintptr_t)area + SLOT - 1) & ~(uintptr_t)(SLOT - 1));
    for (int i = 0; i < SLOTS; i++)
        map(area + i * (size_t)SLOT, MAP_ANONYMOUS, -1), fill(area + i * (size_t)SLOT, SLOT / 4);
    noise = aligned_alloc(PAGE, DATA);
    fill(noise, DATA);
    MUST(file = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600));
    MUST(write(file, noise, DATA));
    direct = open("data", O_RDONLY | O_DIRECT);
    if (direct < 0) direct = file; /* a file system without it */
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
    MUST(-pthread_create(&thread, NULL, beside, NULL));
    MUST(close(open("ready", O_CREAT | O_WRONLY, 0600)));
    while (access("finish", F_OK)) {
        ways[random_below(sizeof ways / sizeof *ways)]();
        if (random_below(8) == 0) usleep(1000);
    }
    FILE *result = fopen("result", "w");
    return result && fputs("PASS\n", result) >= 0 && !fclose(result) ? 0 : 1;
}
