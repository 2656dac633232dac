/* Which real devices there are: all of them, or those that UDCKPT_DEVICE or a restart names, in that order
 * (rxe1+rxe2). */
#include "real_device.h"
#include "real_library.h"
#include "device/lower_device.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libibverbs wants its own list back, with all its devices. */
struct list {
    struct ibv_device **whole;
    struct ibv_device *shown[];
};

static void say_missing(const char *wanted)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (wanted && !atomic_flag_test_and_set(&said))
        fprintf(stderr, "udckpt: UDCKPT_DEVICE=%s is not valid: expected soft, auto, or an existing verbs device\n",
                wanted);
}

static int is_called(const struct ibv_device *device, const char *name, size_t length)
{
    return strlen(device->name) == length && !memcmp(device->name, name, length);
}

/* The devices that are wanted, in the order in which they are named; returns how many of them are there. */
static int choose(const char *wanted, struct ibv_device **whole, int all, struct ibv_device **shown)
{
    int found = 0;
    while (*wanted && found < all) {
        size_t length = strcspn(wanted, "+");
        for (int i = 0; i < all; i++)
            if (is_called(whole[i], wanted, length)) {
                shown[found++] = whole[i];
                break;
            }
        wanted += length + (wanted[length] == '+');
    }
    return found;
}

struct ibv_device **real_get_device_list(int *count)
{
    int all = 0, shown = 0;
    const struct real_library *real = real_library();
    struct ibv_device **whole = real ? REAL_CALL(real->ibv_get_device_list(&all)) : NULL;
    struct list *list = whole ? calloc(1, sizeof *list + (all + 1) * sizeof *list->shown) : NULL;
    if (list) {
        list->whole = whole;
        const char *wanted = lower_device_name();
        shown = wanted ? choose(wanted, whole, all, list->shown) : all;
        if (!wanted)
            memcpy(list->shown, whole, all * sizeof *whole);
    } else if (whole) {
        real->ibv_free_device_list(whole);
        errno = ENOMEM;
    }
    if (!shown)
        say_missing(lower_device_name());
    if (count)
        *count = shown;
    return list ? list->shown : NULL;
}

void real_free_device_list(struct ibv_device **shown)
{
    struct list *list = (struct list *)((char *)shown - offsetof(struct list, shown));
    real_inside++;
    real_library()->ibv_free_device_list(list->whole);
    real_inside--;
    free(list);
}
