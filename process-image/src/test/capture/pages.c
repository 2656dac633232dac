/* 600 pages: every seventh, from the fourth on, holds zeros, the others their numbers; the sixth may not be touched.
 * argv[1]: scratch directory; the address is in the file `ready`. It counts at `ticks`, a page of its own, for ever. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 600, WORDS = 512 };

static uint64_t *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    return at;
}

int main(int argc, char **argv) {
    uint64_t *pages = map(PAGES * 4096);
    volatile uint64_t *ticks = map(4096);
    for (uint64_t page = 0; page < PAGES; page++)
        for (uint64_t word = 0; word < WORDS; word++)
            pages[page * WORDS + word] = page % 7 == 3 ? 0 : page << 32 | word;
    if (mprotect(pages + 5 * WORDS, 4096, PROT_NONE)) abort();
    char path[4096], temporary[4200];
    snprintf(path, sizeof path, "%s/ready", argc > 1 ? argv[1] : ".");
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *ready = fopen(temporary, "w");
    fprintf(ready, "%p %p", (void *)pages, (void *)ticks);
    fclose(ready);
    rename(temporary, path);
    for (;;) {
        ++*ticks;
        usleep(1000);
    }
}
