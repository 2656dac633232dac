/* Memory that a rank only carries, so that an image has a size, and that it writes here and there. */
#pragma once
#include "common.h"
#include "payload.h"
#include <sys/mman.h>

#define PAGE_WORDS (4096 / sizeof(uint64_t))
#define SWEEP 64 /* iterations in which each page is written once */

struct ballast {
    uint64_t *words, pages, expected; /* expected: the wrapped sum of all words */
};

/* Writes one page in SWEEP, so that a checkpoint which runs beside meets copy-on-write. */
static inline void touch_ballast(struct ballast *ballast, uint64_t iteration)
{
    for (uint64_t page = iteration % SWEEP; page < ballast->pages; page += SWEEP) {
        uint64_t added = mix64(iteration + page);
        ballast->words[page * PAGE_WORDS] += added;
        ballast->expected += added;
    }
}

static void load_ballast(struct ballast *ballast, long mib, int rank)
{
    ballast->pages = (uint64_t)mib << 20 >> 12;
    if (mib == 0)
        return;
    ballast->words = mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ballast->words == MAP_FAILED)
        fail("no memory for --ballast");
    for (uint64_t i = 0; i < ballast->pages * PAGE_WORDS; i++) {
        ballast->words[i] = mix64(i + ((uint64_t)rank << 48));
        ballast->expected += ballast->words[i];
    }
}

static uint64_t weigh_ballast(const struct ballast *ballast)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ballast->pages * PAGE_WORDS; i++)
        sum += ballast->words[i];
    if (sum != ballast->expected)
        fail("the ballast is not what was written: memory was lost");
    return sum;
}
