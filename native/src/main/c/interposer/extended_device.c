/* ibv_query_device_ex(3) over a device's query_device: what the old structure has, and no newer capability. */
#include "interposer.h"
#include "device/extended.h"
#include <string.h>

int extended_query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                          struct ibv_device_attr_ex *attr, size_t size)
{
    struct ibv_device_attr_ex found = {.comp_mask = 0};
    if ((input && input->comp_mask) || size < sizeof found.orig_attr)
        return EINVAL;
    int error = CALL(query_device, context, &found.orig_attr);
    if (error)
        return error;
    found.device_cap_flags_ex = found.orig_attr.device_cap_flags;
    found.phys_port_cnt_ex = found.orig_attr.phys_port_cnt;
    memset(attr, 0, size);
    memcpy(attr, &found, size < sizeof found ? size : sizeof found);
    return 0;
}
