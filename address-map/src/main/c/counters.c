#include "counters.h"
#include "shared_file.h"
#include <stdint.h>
#include <stdio.h>

enum { LAST = UDCKPT_COUNTER_SLOTS - 1, HEADER = 4096 };

static struct udckpt_counter_block alone[UDCKPT_COUNTER_SLOTS];
static struct udckpt_counter_block *blocks = alone;
static struct shared_file file;
static uint32_t taken;

int counters_map(const char *directory, int rank, char *error, size_t size)
{
    if (rank < 0)
        return 0;
    if (shared_file_map(&file, directory, "counters", 1, error, size))
        return -1;
    const struct udckpt_counters_header *header = file.start;
    size_t wanted = HEADER + ((size_t)rank + 1) * sizeof alone;
    if (header->magic != UDCKPT_COUNTERS_MAGIC || header->layout_hash != UDCKPT_LAYOUT_HASH || file.size < wanted) {
        snprintf(error, size, "%s/counters is not a counters file of this build of udckpt with a place for rank %d", directory, rank);
        return -1;
    }
    blocks = (struct udckpt_counter_block *)((char *)file.start + HEADER) + (size_t)rank * UDCKPT_COUNTER_SLOTS;
    return 0;
}

int counters_range(struct udckpt_owned_range *range)
{
    return shared_file_range(&file, range);
}

struct udckpt_counter_block *counters_claim(int *slot, int *shared)
{
    *slot = 0;
    while (*slot < LAST && (taken & (1u << *slot)))
        ++*slot;
    *shared = *slot == LAST;
    if (!*shared)
        taken |= 1u << *slot;
    return &blocks[*slot];
}

void counters_release(int slot)
{
    if (slot != LAST)
        taken &= ~(1u << slot);
}

void counters_forked(void)
{
    taken = 0;
}

struct udckpt_counter_block *counters_block(int slot)
{
    return &blocks[slot];
}
