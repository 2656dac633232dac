#include "counters.h"
#include "shared_file.h"
#include <stdint.h>
#include <stdio.h>

enum { LAST = UDCKPT_COUNTER_SLOTS - 1, HEADER = 4096 };

static struct udckpt_counter_block alone[UDCKPT_COUNTER_SLOTS];
/* A thread may register while a restart moves them; who moves them tells all that have registered by then
 * (gate_refresh_counters). */
static struct udckpt_counter_block *blocks = alone;
static struct shared_file file;
static uint32_t taken;

/* False: the rank is another agent's, or the file has no room for it. RankSpan.java has the same rule. */
static int counters_place(const struct udckpt_counters_header *header, int rank, size_t *place)
{
    uint32_t column = header->total ? (uint32_t)rank % header->total - header->first : header->count;
    if (column >= header->count)
        return 0;
    *place = (size_t)((uint32_t)rank / header->total) * header->count + column;
    return HEADER + (*place + 1) * sizeof alone <= file.size;
}

int counters_map(const char *directory, int rank, char *error, size_t size)
{
    if (rank < 0)
        return 0;
    if (shared_file_map(&file, directory, "counters", 1, error, size))
        return -1;
    const struct udckpt_counters_header *header = file.start;
    size_t place;
    if (header->magic != UDCKPT_COUNTERS_MAGIC || header->layout_hash != UDCKPT_LAYOUT_HASH ||
        !counters_place(header, rank, &place)) {
        snprintf(error, size, "%s/counters is not a counters file of this build of udckpt with a place for rank %d",
                 directory, rank);
        return -1;
    }
    __atomic_store_n(&blocks,
                     (struct udckpt_counter_block *)((char *)file.start + HEADER) + place * UDCKPT_COUNTER_SLOTS,
                     __ATOMIC_RELEASE);
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
    return counters_block(*slot);
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
    return &__atomic_load_n(&blocks, __ATOMIC_ACQUIRE)[slot];
}
