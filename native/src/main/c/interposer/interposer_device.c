/* Devices, ports and asynchronous events. */
#include "interposer.h"
#include "device/extended.h"
#include "real-device/real_library.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    return MAKE(get_device_list, count);
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    top_device()->free_device_list(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

EXPORT int ibv_get_device_index(struct ibv_device *device)
{
    /* uverbsN, as the kernel counts them */
    const char *digits = device->dev_name + strcspn(device->dev_name, "0123456789");
    return *digits ? atoi(digits) : 0;
}

/* What the real library opens for itself is no device of the job. */
static int attach(void)
{
    return real_inside ? 0 : session_attach(top_device());
}

/* Asks an opened context: the GUID of a virtual device is not a property of the struct. */
EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
    struct ibv_device_attr attr = {.node_guid = 0};
    if (real_inside)
        return real_library()->ibv_get_device_guid(device);
    struct ibv_context *context = attach() ? NULL : MAKE(open_device, device);
    if (!context)
        return 0;
    if (CALL(query_device, context, &attr))
        attr.node_guid = 0;
    CALL(close_device, context);
    return attr.node_guid;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *context = attach() ? NULL : MAKE(open_device, device);
    if (context) {
        extended_fill(context);
        interposer_fill_windows(context);
        interposer_fill_domains(context);
        interposer_fill_xrc(context);
        interposer_refuse_extended(context);
    }
    return context;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
    return CALL(close_device, context);
}

EXPORT struct ibv_context *ibv_import_device(int fd)
{
    interposer_refuse("ibv_import_device", "a device shared between processes cannot be checkpointed");
    return NULL;
}

/* What mlx5dv_open_device and its like come to. */
EXPORT struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data)
{
    if (real_inside)
        return real_library()->verbs_open_device(device, private_data);
    interposer_refuse("verbs_open_device",
                      "a device opened through a vendor's own interface cannot be checkpointed; use ibv_open_device");
    return NULL;
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    return CALL(query_device, context, attr);
}

/* The old symbol fills the structure as it was before port_cap_flags2; newer callers go through
 * verbs_context->query_port. */
EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
    return CALL(query_port, context, port, (struct ibv_port_attr *)attr,
                offsetof(struct ibv_port_attr, port_cap_flags2));
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    return top_device()->query_gid ? top_device()->query_gid(context, port, index, gid) : (REFUSE("ibv_query_gid"), -1);
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    return top_device()->query_pkey ? top_device()->query_pkey(context, port, index, pkey)
                                    : (REFUSE("ibv_query_pkey"), -1);
}

EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
    struct ibv_port_attr attr;
    if (CALL(query_port, context, port, &attr, sizeof attr))
        return -1;
    for (int i = 0; i < attr.pkey_tbl_len; i++) {
        __be16 entry;
        if (!ibv_query_pkey(context, port, i, &entry) && entry == pkey)
            return i;
    }
    return -1;
}

/* 0 or an errno; ENODATA for an empty entry. */
static int gid_entry(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
    if (port > UINT8_MAX || index > INT32_MAX)
        return EINVAL;
    if (top_device()->query_gid_entry)
        return top_device()->query_gid_entry(context, port, index, entry);
    memset(entry, 0, sizeof *entry);
    if (ibv_query_gid(context, (uint8_t)port, (int)index, &entry->gid))
        return errno;
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = IBV_GID_TYPE_IB;
    return 0;
}

/* Private to rdma-core, but ibv_devinfo asks it: 1 for RoCE version 2, 0 for all others (enum ibv_gid_type_sysfs). */
EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type)
{
    if (real_inside)
        return real_library()->ibv_query_gid_type(context, port, index, type);
    struct ibv_gid_entry entry;
    int error = gid_entry(context, port, index, &entry);
    if (error && error != ENODATA) {
        errno = error;
        return -1;
    }
    *type = !error && entry.gid_type == IBV_GID_TYPE_ROCE_V2;
    return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                             uint32_t flags, size_t entry_size)
{
    struct ibv_gid_entry found;
    if (flags)
        return EOPNOTSUPP;
    int status = gid_entry(context, port, index, &found);
    if (!status)
        memcpy(entry, &found, entry_size < sizeof found ? entry_size : sizeof found);
    return status;
}

/* Number of entries written, or a negative errno value. */
EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
                                    uint32_t flags, size_t entry_size)
{
    struct ibv_device_attr device;
    ssize_t count = 0;
    if (flags || !entry_size)
        return -EOPNOTSUPP;
    int status = CALL(query_device, context, &device);
    for (uint32_t port = 1; !status && port <= device.phys_port_cnt; port++) {
        struct ibv_port_attr attr;
        status = CALL(query_port, context, (uint8_t)port, &attr, sizeof attr);
        for (uint32_t i = 0; !status && i < (uint32_t)attr.gid_tbl_len; i++) {
            struct ibv_gid_entry entry;
            if (gid_entry(context, port, i, &entry))
                continue; /* an entry that is not in use */
            if ((size_t)count == max)
                return -EINVAL;
            memcpy((char *)entries + (size_t)count++ * entry_size, &entry,
                   entry_size < sizeof entry ? entry_size : sizeof entry);
        }
    }
    return status ? -status : count;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    return top_device()->get_async_event ? top_device()->get_async_event(context, event)
                                         : (REFUSE("ibv_get_async_event"), -1);
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    if (top_device()->ack_async_event)
        top_device()->ack_async_event(event);
}

/* fork(2) is what a checkpoint is made with, so no range may be marked MADV_DONTFORK; no device
 * writes to memory behind the processor's back here, which is what the marks are for. */
EXPORT int ibv_fork_init(void)
{
    return 0;
}

EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

EXPORT int ibv_dontfork_range(void *base, size_t size)
{
    return 0;
}

EXPORT int ibv_dofork_range(void *base, size_t size)
{
    return 0;
}
