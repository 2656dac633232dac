/* Memory that the device may write to. Such writes leave no trace in the page tables, so the agent, which asks these
 * what was written since a checkpoint (process/tracking), has to know where they go. It reads the table in the stopped
 * process, whose threads are outside of all verbs then. */
#include "real_device.h"
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

__attribute__((visibility("default"))) struct udckpt_device_regions udckpt_device_regions;

enum { WRITES = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const struct ibv_mr *owners[UDCKPT_DEVICE_REGIONS];
static uint32_t first_free; /* no place below is */

static struct udckpt_device_region *place(uint32_t i)
{
    return (struct udckpt_device_region *)udckpt_device_regions.entries + i;
}

void real_region_restore(const struct ibv_mr *mr, struct udckpt_device_region region)
{
    if (!region.end)
        return;
    pthread_mutex_lock(&mutex);
    uint32_t i = first_free;
    while (i < UDCKPT_DEVICE_REGIONS && owners[i])
        i++;
    if (i == UDCKPT_DEVICE_REGIONS) {
        udckpt_device_regions.unlisted++;
    } else {
        owners[i] = mr;
        *place(i) = region;
        first_free = i + 1;
        if (udckpt_device_regions.used <= i)
            udckpt_device_regions.used = i + 1;
    }
    pthread_mutex_unlock(&mutex);
}

void real_region_add(const struct ibv_mr *mr, const void *start, size_t length, unsigned access)
{
    uint64_t first = (uintptr_t)start;
    /* implicit on-demand paging is a region of all memory */
    uint64_t end = length > UINT64_MAX - first ? UINT64_MAX : first + length;
    if (access & WRITES && length)
        real_region_restore(mr, (struct udckpt_device_region){first, end});
}

/* One that had no place is not found: the table stays incomplete, and the agent reads all memory. */
struct udckpt_device_region real_region_remove(const struct ibv_mr *mr)
{
    struct udckpt_device_region region = {0, 0};
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < udckpt_device_regions.used; i++)
        if (owners[i] == mr) {
            region = *place(i);
            owners[i] = NULL;
            *place(i) = (struct udckpt_device_region){0, 0};
            if (i < first_free)
                first_free = i;
            break;
        }
    pthread_mutex_unlock(&mutex);
    return region;
}

void real_regions_forget(void)
{
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < udckpt_device_regions.used; i++) {
        owners[i] = NULL;
        *place(i) = (struct udckpt_device_region){0, 0};
    }
    udckpt_device_regions.used = udckpt_device_regions.unlisted = first_free = 0;
    pthread_mutex_unlock(&mutex);
}
