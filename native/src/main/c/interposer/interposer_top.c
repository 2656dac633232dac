/* Puts the floors together: what a lower one calls of a higher one is given to it here, before the first operation. */
#include "interposer.h"
#include "checkpoint/virtual_checkpoint.h"
#include "device/lower_device.h"
#include "real-device/real_library.h"
#include "transport/rc.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const struct verbs_device *top;

static const struct verbs_device *choose(void)
{
    static const struct real_loader loader = {.open = dlopen, .symbol = dlvsym};
    real_library_by(&loader);
    virtual_connect_by(&rc_transport);
    lower_device_choose();
    return virtual_is_wanted() ? &virtual_device : lower_device;
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
