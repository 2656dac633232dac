/* What the job asks about the host: the answers of the incarnation in which it first asked. */
#include "virtual_host.h"
#include "agent-client/control.h"
#include <errno.h>
#include <string.h>

struct v_link_kind virtual_identity, virtual_real;

/* Notes the kind of the first port that is seen. Returns 1 when this one is of the same. */
static int is_usable(struct v_link_kind *kind, const struct ibv_port_attr *port)
{
    int ethernet = port->link_layer == IBV_LINK_LAYER_ETHERNET;
    if (!kind->known)
        *kind = (struct v_link_kind){1, ethernet};
    return kind->ethernet == ethernet;
}

/* What the job is told about one port for ever. Returns 0 or an errno. */
static int learn_port(struct ibv_context *real, const struct v_identity *identity, struct v_port *port)
{
    struct ibv_port_attr now;
    int error = lower_device->query_port(real, port->number, &now, sizeof now);
    if (error)
        return error;
    port->ethernet = now.link_layer == IBV_LINK_LAYER_ETHERNET;
    port->lid = port->ethernet ? virtual_port_number(identity->place, port->number) : now.lid;
    port->usable = is_usable(&virtual_identity, &now) && (!port->ethernet || port->lid);
    port->sm_lid = now.sm_lid;
    port->gid_count = virtual_read_gids(real, port->number, now.gid_tbl_len, port->gids, port->gid_types);
    if (port->gid_count < 0)
        return errno;
    port->gid_index = port->ethernet ? virtual_choose_gid(port->gids, port->gid_types, port->gid_count) : 0;
    return 0;
}

int virtual_learn_identity(struct v_context *context)
{
    struct v_identity *identity = context->identity;
    struct ibv_device_attr device;
    if (identity->known)
        return 0;
    int error = lower_device->query_device(context->real, &device);
    identity->port_count = error ? 0 : device.phys_port_cnt < MAX_PORTS ? device.phys_port_cnt : MAX_PORTS;
    for (unsigned i = 0; !error && i < identity->port_count; i++) {
        identity->ports[i].number = (uint8_t)(i + 1);
        error = learn_port(context->real, identity, &identity->ports[i]);
    }
    if (error)
        return error;
    identity->node_guid = device.node_guid;
    identity->sys_image_guid = device.sys_image_guid;
    identity->known = 1;
    return 0;
}

/* Where no LIDs are, the agent learns which GIDs are at which port: those that the job sees, and those of this
 * incarnation. */
static int publish(const struct v_port *port, const union ibv_gid *gids, int count)
{
    int answer = REQUEST_OK;
    if (virtual_identity.ethernet)
        answer = request_host(0, port->lid, port->gids, port->gid_count);
    if (virtual_real.ethernet && answer != REQUEST_FAILED)
        answer = request_host(1, port->now.lid, gids, count);
    return answer == REQUEST_FAILED ? EADDRINUSE : 0;
}

/* Where one of the job's ports is in this incarnation: a device with fewer ports has several of them. */
static int learn_real_port(const struct v_context *context, struct v_port *port, unsigned real_ports)
{
    struct ibv_port_attr now;
    union ibv_gid gids[MAX_GIDS];
    uint32_t types[MAX_GIDS];
    uint8_t number = (uint8_t)((port->number - 1) % real_ports + 1);
    int error = lower_device->query_port(context->real, number, &now, sizeof now);
    if (error)
        return error;
    if (!is_usable(&virtual_real, &now))
        return EPROTONOSUPPORT;
    int count = virtual_read_gids(context->real, number, now.gid_tbl_len, gids, types);
    if (count <= 0)
        return count ? errno : ENODATA;
    port->now.number = number;
    port->now.active = now.state == IBV_PORT_ACTIVE;
    port->now.lid = virtual_real.ethernet ? virtual_port_number(context->identity->real_place, number) : now.lid;
    port->now.gid_index = virtual_real.ethernet ? virtual_choose_gid(gids, types, count) : 0;
    port->now.gid = gids[port->now.gid_index];
    return publish(port, gids, count);
}

int virtual_learn_real(struct v_context *context)
{
    struct ibv_device_attr device;
    int error = lower_device->query_device(context->real, &device);
    if (!error && !device.phys_port_cnt)
        error = ENODEV;
    for (unsigned i = 0; !error && i < context->identity->port_count; i++)
        if (context->identity->ports[i].usable)
            error = learn_real_port(context, &context->identity->ports[i], device.phys_port_cnt);
    return error;
}

int virtual_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = lower_device->query_device(context_of(context)->real, attributes);
    if (!error) {
        const struct v_identity *identity = context_of(context)->identity;
        attributes->node_guid = identity->node_guid;
        attributes->sys_image_guid = identity->sys_image_guid;
        attributes->phys_port_cnt = (uint8_t)identity->port_count;
        attributes->device_cap_flags &= ~(unsigned)IBV_DEVICE_SRQ_RESIZE;
    }
    gate_leave();
    return error;
}

/* A port of the job's device, usable or not; NULL if the device has none of this number. */
static const struct v_port *any_port(struct ibv_context *context, uint32_t number)
{
    const struct v_identity *identity = context_of(context)->identity;
    return number >= 1 && number <= identity->port_count ? &identity->ports[number - 1] : NULL;
}

/* The device's number of it in this incarnation. */
static uint8_t real_number(const struct v_port *port)
{
    return port->usable ? port->now.number : port->number;
}

int virtual_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size)
{
    struct ibv_port_attr real;
    const struct v_port *seen = any_port(context, port);
    if (!seen)
        return EINVAL;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = lower_device->query_port(context_of(context)->real, real_number(seen), &real, sizeof real);
    if (!error) {
        real.lid = seen->ethernet ? 0 : seen->lid;
        real.sm_lid = seen->sm_lid;
        real.gid_tbl_len = seen->gid_count;
        real.link_layer = seen->ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    }
    if (!error)
        memcpy(attributes, &real, size < sizeof real ? size : sizeof real);
    gate_leave();
    return error;
}

int virtual_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    const struct v_port *seen = any_port(context, port);
    if (!seen || index < 0 || index >= seen->gid_count) {
        errno = EINVAL;
        return -1;
    }
    *gid = seen->gids[index];
    return 0;
}

int virtual_query_gid_entry(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
    *entry = (struct ibv_gid_entry){.gid_index = index, .port_num = port};
    const struct v_port *seen = any_port(context, port);
    if (!seen || index >= (uint32_t)seen->gid_count)
        return EINVAL;
    entry->gid = seen->gids[index];
    entry->gid_type = seen->gid_types[index];
    static const union ibv_gid none;
    return memcmp(&entry->gid, &none, sizeof none) ? 0 : ENODATA;
}

int virtual_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    const struct v_port *seen = any_port(context, port);
    if (!seen) {
        errno = EINVAL;
        return -1;
    }
    if (!gate_enter())
        return -1;
    int error = lower_device->query_pkey(context_of(context)->real, real_number(seen), index, pkey);
    gate_leave();
    return error;
}
