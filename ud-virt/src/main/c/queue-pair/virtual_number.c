/* From a device's queue pair number to the job's, for completions whose work request does not tell the queue pair
 * (those of shared receive queues, and of requests that have failed): two levels of an array over the 24 bits, read
 * without a lock. Pages stay until the device is closed. */
#include "virtual.h"
#include <stdlib.h>

enum { LEVEL_BITS = 12, LEVEL = 1 << LEVEL_BITS };

struct v_numbers {
    uint32_t *pages[LEVEL];
};

int virtual_set_number(struct v_context *context, uint32_t real, uint32_t virtual)
{
    int error = -1;
    pthread_mutex_lock(&virtual_mutex);
    if (!context->numbers)
        context->numbers = calloc(1, sizeof *context->numbers);
    if (context->numbers) {
        uint32_t **place = &context->numbers->pages[real >> LEVEL_BITS], *page = *place;
        if (!page && (page = calloc(LEVEL, sizeof *page)))
            __atomic_store_n(place, page, __ATOMIC_RELEASE);
        if (page) {
            __atomic_store_n(&page[real % LEVEL], virtual, __ATOMIC_RELAXED);
            error = 0;
        }
    }
    pthread_mutex_unlock(&virtual_mutex);
    return error;
}

uint32_t virtual_number_of(const struct v_context *context, uint32_t real)
{
    const uint32_t *page =
        context->numbers ? __atomic_load_n(&context->numbers->pages[real >> LEVEL_BITS], __ATOMIC_ACQUIRE) : NULL;
    return page ? __atomic_load_n(&page[real % LEVEL], __ATOMIC_RELAXED) : 0;
}

void virtual_forget_numbers(struct v_context *context)
{
    for (int i = 0; context->numbers && i < LEVEL; i++)
        free(context->numbers->pages[i]);
    free(context->numbers);
    context->numbers = NULL;
}
