/* Writes the same number in four kinds of memory, in a fixed order, for ever: a snapshot must be one cut through it.
 * The order is fork memory, unforked memory, shared memory, page by page of a large array. argv[1]: scratch directory;
 * the addresses are in the file `ready`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 512, WORDS = 512 };

static volatile uint64_t *map(size_t bytes, int flags) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    return at;
}

int main(int argc, char **argv) {
    volatile uint64_t *forked = map(4096, MAP_PRIVATE), *unforked = map(4096, MAP_PRIVATE),
                      *shared = map(8192, MAP_SHARED);
    volatile uint64_t *array = map(PAGES * 4096, MAP_PRIVATE);
    if (madvise((void *)unforked, 4096, MADV_DONTFORK)) abort();
    for (int page = 0; page < PAGES; page++)
        array[page * WORDS + page] = 0; /* all of it is there before anyone looks */
    *forked = *unforked = shared[512] = 0;
    char path[4096], temporary[4200];
    snprintf(path, sizeof path, "%s/ready", argc > 1 ? argv[1] : ".");
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *ready = fopen(temporary, "w");
    fprintf(ready, "%p %p %p %p", (void *)forked, (void *)unforked, (void *)shared, (void *)array);
    fclose(ready);
    rename(temporary, path);
    for (uint64_t n = 1;; n++) {
        *forked = n;
        *unforked = n;
        shared[512] = n; /* the second page, so that the first stays a hole */
        for (int page = 0; page < PAGES; page++) array[page * WORDS + page] = n;
    }
}
