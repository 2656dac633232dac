/* The virtual device: libibverbs' operations over the real device, with every address translated.
 * What posts and polls is in context->ops only (virtual_context.c). */
#include "virtual.h"
#include "agent-client/control.h"
#include "checkpoint/virtual_checkpoint.h"
#include "common/environment.h"
#include "data-path/fused_path.h"
#include "memory/virtual_window.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct v_link virtual_contexts = {&virtual_contexts, &virtual_contexts};
struct v_link virtual_ahs = {&virtual_ahs, &virtual_ahs};
pthread_mutex_t virtual_mutex = PTHREAD_MUTEX_INITIALIZER;
int virtual_keys_differ;

static int configure(const struct device_config *config)
{
    return lower_device->configure(config);
}

static void set_key(const uint8_t *key)
{
    if (lower_device->set_key)
        lower_device->set_key(key);
}

static int owned_fds(struct ibv_context *context, int *fds, int max)
{
    return lower_device->owned_fds(context_of(context)->real, fds, max);
}

const struct fused_path *virtual_fused_path_of(const struct verbs_device *device)
{
    return device == &soft_device ? &soft_fused_path : NULL;
}

static int is_generic_wanted(void)
{
    const char *path = environment_get("UDCKPT_DATA_PATH"), *former = environment_get("UDCKPT_LENDING");
    if (!path)
        return former && !strcmp(former, "0");
    if (strcmp(path, "fused") && strcmp(path, "generic"))
        control_log("UDCKPT_DATA_PATH=%s is not valid: expected fused or generic; using fused", path);
    return !strcmp(path, "generic");
}

const struct fused_path *virtual_fused_path(void)
{
    static int chosen; /* 1 fused, 2 generic */
    int now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!now) {
        now = virtual_fused_path_of(lower_device) && !is_generic_wanted() ? 1 : 2;
        __atomic_store_n(&chosen, now, __ATOMIC_RELAXED);
    }
    return now == 1 ? virtual_fused_path_of(lower_device) : NULL;
}

int virtual_is_wanted(void)
{
    static int chosen; /* 1 wanted, 2 not */
    int now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!now) {
        const char *wanted = environment_get("UDCKPT_VIRTUALIZE");
        if (wanted && strcmp(wanted, "0") && strcmp(wanted, "1"))
            fprintf(stderr, "udckpt: UDCKPT_VIRTUALIZE=%s is not valid: expected 0 or 1; using 1\n", wanted);
        now = wanted && !strcmp(wanted, "0") ? 2 : 1;
        __atomic_store_n(&chosen, now, __ATOMIC_RELAXED);
    }
    return now == 1;
}

int virtual_has_devices(void)
{
    return virtual_contexts.next != &virtual_contexts;
}

int virtual_owned_fds(int *fds, int max)
{
    int count = 0;
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    count += lower_device->owned_fds(context->real, count < max ? fds + count : fds, count < max ? max - count : 0);
    return count;
}

int virtual_owned_ranges(struct udckpt_owned_range *ranges, int max)
{
    return lower_device->owned_ranges && virtual_has_devices() ? lower_device->owned_ranges(ranges, max) : 0;
}

const struct verbs_device virtual_device = {
    .kind = "virtual",
    .extends = 1,
    .configure = configure,
    .set_key = set_key,
    .get_device_list = virtual_get_device_list,
    .free_device_list = virtual_free_device_list,
    .open_device = virtual_open_device,
    .close_device = virtual_close_device,
    .query_device = virtual_query_device,
    .query_port = virtual_query_port,
    .query_gid = virtual_query_gid,
    .query_gid_entry = virtual_query_gid_entry,
    .query_pkey = virtual_query_pkey,
    .get_async_event = virtual_get_async_event,
    .ack_async_event = virtual_ack_async_event,
    .alloc_pd = virtual_alloc_pd,
    .dealloc_pd = virtual_dealloc_pd,
    .reg_mr = virtual_reg_mr,
    .dereg_mr = virtual_dereg_mr,
    .alloc_mw = virtual_alloc_mw,
    .dealloc_mw = virtual_dealloc_mw,
    .create_comp_channel = virtual_create_comp_channel,
    .destroy_comp_channel = virtual_destroy_comp_channel,
    .create_cq = virtual_create_cq,
    .resize_cq = virtual_resize_cq,
    .destroy_cq = virtual_destroy_cq,
    .get_cq_event = virtual_get_cq_event,
    .ack_cq_events = virtual_ack_cq_events,
    .req_notify_cq = virtual_req_notify_cq,
    .create_srq = virtual_create_srq,
    .modify_srq = virtual_modify_srq,
    .query_srq = virtual_query_srq,
    .destroy_srq = virtual_destroy_srq,
    .create_xrc_srq = virtual_create_xrc_srq,
    .srq_number = virtual_srq_number,
    .create_qp = virtual_create_qp,
    .modify_qp = virtual_modify_qp,
    .query_qp = virtual_query_qp,
    .destroy_qp = virtual_destroy_qp,
    .create_ah = virtual_create_ah,
    .destroy_ah = virtual_destroy_ah,
    .attach_mcast = virtual_attach_mcast,
    .detach_mcast = virtual_detach_mcast,
    .owned_fds = owned_fds,
};
