/* The table of memory that a real device may write to says all regions that there are, whatever comes and goes, and
 * says so when it cannot. Argument: a seed. */
#include "real-device/real_device.h"
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

extern struct udckpt_device_regions udckpt_device_regions;

enum { MOST = UDCKPT_DEVICE_REGIONS + 50, ROUNDS = 200000 };

static struct {
    uint64_t start, end; /* 0: none */
} known[MOST];

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static const struct ibv_mr *name(unsigned i)
{
    return (const struct ibv_mr *)(16 * (uintptr_t)(i + 1));
}

static unsigned count(void)
{
    unsigned live = 0;
    for (unsigned i = 0; i < MOST; i++)
        live += known[i].end != 0;
    return live;
}

/* Each known region once, and nothing else. */
static int listed(void)
{
    const struct udckpt_device_region *entries = (const void *)udckpt_device_regions.entries;
    unsigned found = 0;
    for (unsigned i = 0; i < UDCKPT_DEVICE_REGIONS; i++) {
        if (!entries[i].end)
            continue;
        unsigned number = (unsigned)(entries[i].start >> 20) - 1;
        if (i >= udckpt_device_regions.used || number >= MOST || known[number].start != entries[i].start ||
            known[number].end != entries[i].end)
            return 0;
        found++;
    }
    return found == count();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    srandom((unsigned)strtoul(argv[1], NULL, 10));
    for (int round = 0; round < ROUNDS; round++) {
        unsigned i = (unsigned)random() % UDCKPT_DEVICE_REGIONS;
        if (known[i].end) {
            struct udckpt_device_region was = real_region_remove(name(i));
            if (was.start != known[i].start || was.end != known[i].end)
                return fail("another region was removed");
            if (random() % 4 == 0)
                real_region_restore(name(i), was);
            else
                known[i].end = known[i].start = 0;
        } else {
            unsigned long length = 1 + (unsigned long)random() % 100000;
            int writes = random() % 4 > 0;
            known[i].start = writes ? (uint64_t)(i + 1) << 20 : 0;
            known[i].end = writes ? known[i].start + length : 0;
            real_region_add(name(i), (void *)((uintptr_t)(i + 1) << 20), length,
                            writes ? IBV_ACCESS_LOCAL_WRITE : IBV_ACCESS_REMOTE_READ);
        }
        if (round % 1000 == 0 && !listed())
            return fail("a region is not listed, or one that is gone is");
    }
    if (udckpt_device_regions.unlisted)
        return fail("there were places");
    for (unsigned i = 0; i < MOST; i++)
        if (!known[i].end)
            real_region_add(name(i), (void *)((uintptr_t)(i + 1) << 20), 4096, IBV_ACCESS_LOCAL_WRITE);
    if (udckpt_device_regions.unlisted != MOST - UDCKPT_DEVICE_REGIONS)
        return fail("more regions than places, and nothing is said of it");
    real_regions_forget();
    real_region_add(name(0), (void *)4096, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    const struct udckpt_device_region *first = (const void *)udckpt_device_regions.entries;
    if (udckpt_device_regions.used != 1 || udckpt_device_regions.unlisted || first->start != 4096 ||
        first->end != UINT64_MAX)
        return fail("a region of all memory");
    return 0;
}
