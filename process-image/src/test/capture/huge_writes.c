/* Writes to each of its huge pages when SIGUSR1 comes, and then makes the file named by how often: huge_writes
 * DIRECTORY */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE = 2 << 20, BLOCKS = 8 };

int main(int argc, char **argv) {
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    if (argc != 2 || chdir(argv[1]) || sigprocmask(SIG_BLOCK, &usr1, NULL)) return 1;
    char *area = mmap(NULL, (BLOCKS + 1) * (size_t)HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) return 1;
    area = (char *)(((uintptr_t)area + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    madvise(area, BLOCKS * (size_t)HUGE, MADV_HUGEPAGE);
    memset(area, 7, BLOCKS * (size_t)HUGE);
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    for (int round = 1, signal;; round++) {
        if (sigwait(&usr1, &signal)) return 1;
        for (int i = 0; i < BLOCKS; i++) area[i * (size_t)HUGE + 12345]++;
        char name[20];
        snprintf(name, sizeof name, "%d", round);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
}
