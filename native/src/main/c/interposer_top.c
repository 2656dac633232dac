#include "interposer.h"
#include "lower_device.h"
#include "real_library.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct verbs_device virtual_device __attribute__((weak));

static const struct verbs_device *top;

/* Stands alone, without the virtual layer, when that is not built in or not wanted. */
static const struct verbs_device *choose(void)
{
    const char *virtualize = getenv("UDCKPT_VIRTUALIZE");
    if (virtualize && strcmp(virtualize, "0") && strcmp(virtualize, "1"))
        fprintf(stderr, "udckpt: UDCKPT_VIRTUALIZE=%s is not valid: expected 0 or 1; taking 1\n", virtualize);
    lower_device_choose();
    if (&virtual_device && !(virtualize && !strcmp(virtualize, "0")))
        return &virtual_device;
    return lower_device;
}

/* What libibverbs and its providers call of their own is theirs (real_library.h).
 * A constructor cannot be early enough: another library's may open the device. Racing first calls
 * choose the same. */
const struct verbs_device *top_device(void)
{
    if (__builtin_expect(real_inside, 0))
        return &real_device;
    const struct verbs_device *chosen = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!chosen, 0)) {
        chosen = choose();
        __atomic_store_n(&top, chosen, __ATOMIC_RELEASE);
    }
    return chosen;
}

/* Before it is chosen, as it will be; "auto" alone has to be chosen to be known. */
int top_is_soft(void)
{
    if (__builtin_expect(real_inside, 0))
        return 0;
    if (__atomic_load_n(&top, __ATOMIC_ACQUIRE))
        return lower_device == &soft_device;
    const char *wanted = getenv("UDCKPT_DEVICE");
    if (wanted && !strcmp(wanted, "auto"))
        return top_device() && lower_device == &soft_device;
    return lower_device_is_soft(wanted);
}
