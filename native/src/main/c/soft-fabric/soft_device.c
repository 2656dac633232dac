/* The soft fabric's device: what it is, and the table of what it can do. */
#include "soft_address.h"
#include "soft_channel.h"
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_memory.h"
#include "soft_multicast.h"
#include "soft_objects.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_receive.h"
#include "soft_srq.h"
#include "soft_trouble.h"
#include "soft_window.h"
#include "soft_xrc.h"
#include "common/system_calls.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Vendor libraries (libmlx5) look at what a provider keeps behind struct ibv_device, to see whether
 * the device is theirs: the zeroes say no. */
static struct soft_device_entry {
    struct ibv_device device;
    char behind[512];
} devices[SOFT_DEVICES_MAX];
static pthread_once_t named = PTHREAD_ONCE_INIT;

static void name_devices(void)
{
    for (unsigned i = 0; i < SOFT_DEVICES_MAX; i++) {
        struct ibv_device *device = &devices[i].device;
        device->node_type = IBV_NODE_CA;
        device->transport_type = IBV_TRANSPORT_IB;
        snprintf(device->name, sizeof device->name, "soft%u", i);
        snprintf(device->dev_name, sizeof device->dev_name, "uverbs%u", i);
        snprintf(device->dev_path, sizeof device->dev_path, "/sys/class/infiniband_verbs/uverbs%u", i);
        snprintf(device->ibdev_path, sizeof device->ibdev_path, "/sys/class/infiniband/soft%u", i);
    }
}

static struct ibv_device **get_device_list(int *count)
{
    const struct soft_config *config = soft_config();
    pthread_once(&named, name_devices);
    struct ibv_device **list = config ? calloc(config->devices + 1, sizeof *list) : NULL;
    for (unsigned i = 0; list && i < config->devices; i++)
        list[i] = &devices[i].device;
    if (count)
        *count = list ? (int)config->devices : 0;
    return list;
}

/* Its place among the host's devices, or -1. */
static int place_of(const struct ibv_device *device, const struct soft_config *config)
{
    for (unsigned i = 0; i < config->devices; i++)
        if (device == &devices[i].device)
            return (int)i;
    return -1;
}

static void free_device_list(struct ibv_device **list)
{
    free(list);
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){
        .fw_ver = "udckpt-1",
        .vendor_id = 0xffffff, /* of nobody, but not 0, which is no device's (rdma_rxe says the same) */
        .node_guid = soft_guid(soft_context_of(context)->config.lid),
        .sys_image_guid = soft_guid(soft_config()->lid),
        .max_mr_size = ~0ull,
        .page_size_cap = 4096,
        .max_qp = (int)(soft_context_of(context)->config.qpn_last - soft_context_of(context)->config.qpn_first + 1),
        .max_qp_wr = SOFT_MAX_WR,
        .device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_MEM_WINDOW |
                            IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC,
        .max_sge = SOFT_MAX_SGE,
        .max_cq = 1 << 16,
        .max_cqe = SOFT_MAX_CQE,
        .max_mr = (int)(SOFT_MR_CHUNK * SOFT_MR_CHUNKS) - 1,
        .max_mw = (int)(SOFT_MR_CHUNK * SOFT_MR_CHUNKS) - 1,
        .max_pd = 1 << 16,
        .max_qp_rd_atom = SOFT_RC_RD_ATOMIC,
        .max_res_rd_atom = SOFT_RC_RD_ATOMIC << 16,
        .max_qp_init_rd_atom = SOFT_RC_RD_ATOMIC,
        .atomic_cap = IBV_ATOMIC_GLOB, /* the processor's own instructions do them */
        .max_ah = 1 << 20,
        .max_srq = 1 << 16,
        .max_srq_wr = SOFT_MAX_WR,
        .max_srq_sge = SOFT_MAX_SGE,
        .max_mcast_grp = 1 << 16,
        .max_mcast_qp_attach = 1 << 16,
        .max_total_mcast_qp_attach = 1 << 20,
        .max_pkeys = 1,
        .phys_port_cnt = (uint8_t)soft_context_of(context)->config.ports,
    };
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    if (!soft_has_port(context, port))
        return EINVAL;
    struct ibv_port_attr all = {
        .state = soft_port_is_down(soft_context_of(context), port) ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = 1,
        .max_msg_sz = SOFT_RC_MAX_MESSAGE,
        .pkey_tbl_len = 1,
        .lid = soft_port_lid(&soft_context_of(context)->config, port),
        .sm_lid = 1,
        .max_vl_num = 1,
        .active_width = 2,                                                       /* 4X */
        .active_speed = 32,                                                      /* EDR, 25 Gb/s a lane */
        .phys_state = soft_port_is_down(soft_context_of(context), port) ? 2 : 5, /* Polling, LinkUp */
        .link_layer = IBV_LINK_LAYER_INFINIBAND,
    };
    memcpy(attr, &all, size < sizeof all ? size : sizeof all);
    if (size > sizeof all)
        memset((char *)attr + sizeof all, 0, size - sizeof all);
    return 0;
}

/* These two return -1 and set errno (ibv_query_gid(3), ibv_query_pkey(3)). */
static int query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    if (!soft_has_port(context, port) || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *gid = soft_gid(soft_port_lid(&soft_context_of(context)->config, port));
    return 0;
}

static int query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    if (!soft_has_port(context, port) || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htons(SOFT_PKEY);
    return 0;
}

/* Keys begin at another place in each incarnation of a process, so that one that should have been
 * translated and was not is noticed. */
static uint32_t first_key_slot(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1 + (uint32_t)(((uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull) >> 48);
}

static void fill_operations(struct soft_context *context)
{
    struct ibv_context *base = &context->verbs.context;
    context->verbs.sz = sizeof context->verbs;
    context->verbs.query_port = query_port;
    base->ops.poll_cq = soft_poll_cq;
    base->ops.req_notify_cq = soft_req_notify_cq;
    base->ops.post_send = soft_post_datagrams; /* until there is a reliable connection */
    base->ops.post_recv = soft_post_recv;
    base->ops.post_srq_recv = soft_post_srq_recv;
}

static struct ibv_context *open_device(struct ibv_device *device)
{
    const struct soft_config *config = soft_config();
    int place = config ? place_of(device, config) : -1;
    struct soft_context *context = place >= 0 ? calloc(1, sizeof *context) : NULL;
    if (!context) {
        errno = !config ? EINVAL : place < 0 ? ENODEV : ENOMEM;
        return NULL;
    }
    struct ibv_context *base = &context->verbs.context;
    context->config = *config;
    context->config.lid = (uint16_t)(config->lid + (unsigned)place * config->ports);
    context->objects.next = context->objects.previous = &context->objects;
    context->async_last = &context->async_first;
    context->mr_next = config->first_key ? config->first_key : first_key_slot();
    context->mr_chunks = calloc(SOFT_MR_CHUNKS, sizeof *context->mr_chunks);
    base->device = device;
    base->cmd_fd = -1;
    base->async_fd = system_eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    base->num_comp_vectors = 1;
    base->abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&base->mutex, NULL);
    fill_operations(context);
    if (!context->mr_chunks || base->async_fd < 0) {
        int error = context->mr_chunks ? errno : ENOMEM;
        close(base->async_fd);
        free(context->mr_chunks);
        free(context);
        errno = error;
        return NULL;
    }
    soft_trouble_opened(context);
    return base;
}

const struct verbs_device soft_device = {
    .kind = "soft",
    .extends = 1,
    .configure = soft_configure,
    .set_key = soft_set_key,
    .get_device_list = get_device_list,
    .free_device_list = free_device_list,
    .open_device = open_device,
    .close_device = soft_close_device,
    .query_device = query_device,
    .query_port = query_port,
    .query_gid = query_gid,
    .query_pkey = query_pkey,
    .get_async_event = soft_get_async_event,
    .ack_async_event = soft_ack_async_event,
    .alloc_pd = soft_alloc_pd,
    .dealloc_pd = soft_dealloc_pd,
    .reg_mr = soft_reg_mr,
    .dereg_mr = soft_dereg_mr,
    .alloc_mw = soft_alloc_mw,
    .dealloc_mw = soft_dealloc_mw,
    .create_comp_channel = soft_create_comp_channel,
    .destroy_comp_channel = soft_destroy_comp_channel,
    .create_cq = soft_create_cq,
    .resize_cq = soft_resize_cq,
    .destroy_cq = soft_destroy_cq,
    .get_cq_event = soft_get_cq_event,
    .ack_cq_events = soft_ack_cq_events,
    .poll_cq = soft_poll_cq,
    .req_notify_cq = soft_req_notify_cq,
    .create_srq = soft_create_srq,
    .modify_srq = soft_modify_srq,
    .query_srq = soft_query_srq,
    .destroy_srq = soft_destroy_srq,
    .post_srq_recv = soft_post_srq_recv,
    .create_xrc_srq = soft_create_xrc_srq,
    .srq_number = soft_srq_number,
    .create_qp = soft_create_qp,
    .modify_qp = soft_modify_qp,
    .query_qp = soft_query_qp,
    .destroy_qp = soft_destroy_qp,
    .post_send = soft_post_send,
    .post_recv = soft_post_recv,
    .create_ah = soft_create_ah,
    .destroy_ah = soft_destroy_ah,
    .attach_mcast = soft_attach_mcast,
    .detach_mcast = soft_detach_mcast,
    .connection_bytes = sizeof(struct soft_rc_memory),
    .save_connection = soft_rc_save,
    .restore_connection = soft_rc_restore,
    .hold = soft_rc_hold,
    .is_settled = soft_rc_is_settled,
    .park = soft_rc_engine_park,
    .owned_fds = soft_owned_fds,
    .forget = soft_forget,
    .fail_cq = soft_cq_fail,
};
