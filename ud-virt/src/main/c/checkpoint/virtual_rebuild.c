/* In a restored process: the same objects, on another device. The job's structs stay where they are. */
#include "address_table.h"
#include "counters.h"
#include "virtual.h"
#include "virtual_checkpoint.h"
#include "agent-client/control.h"
#include "common/clock.h"
#include "data-path/fused_path.h"
#include "data-path/generic_path.h"
#include "device/lower_device.h"
#include "device/virtual_host.h"
#include "memory/keys_file.h"
#include "memory/virtual_window.h"
#include "queue-pair/transport.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct failure {
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int failed(struct failure *failure, const char *format, ...)
{
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(failure->text, failure->size, format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < failure->size)
        snprintf(failure->text + used, failure->size - used, ": %s", strerror(saved));
    return -1;
}

static int rebuild_memory(struct v_context *context, struct failure *failure)
{
    const struct fused_path *fused = virtual_fused_path();
    FOR_EACH(struct v_pd, link, pd, &context->pds)
    {
        virtual_forget_real_ahs(pd, 0);
        virtual_forget_void_routes(pd);
        if (!(pd->real = lower_device->alloc_pd(context->real)))
            return failed(failure, "protection domain %p", (void *)pd);
    }
    FOR_EACH(struct v_mr, link, mr, &context->mrs)
    {
        struct ibv_pd *pd = ((struct v_pd *)mr->mr.pd)->real;
        mr->real = fused ? fused->register_as(pd, mr->mr.addr, mr->mr.length, mr->iova, mr->access, mr->mr.lkey)
                         : lower_device->reg_mr(pd, mr->mr.addr, mr->mr.length, mr->iova, mr->access);
        if (!mr->real)
            return failed(failure, "memory region 0x%x at %p of %zu bytes", mr->mr.lkey, mr->mr.addr, mr->mr.length);
        virtual_set_real_key(mr);
        if ((errno = virtual_tell_key(mr)))
            return failed(failure, "memory region 0x%x: publish its remote key", mr->mr.lkey);
    }
    if (virtual_rebuild_windows(context))
        return failed(failure, "memory windows");
    return 0;
}

static int rebuild_queues(struct v_context *context, struct failure *failure)
{
    FOR_EACH(struct v_channel, link, channel, &context->channels)
    {
        channel->real = lower_device->create_comp_channel(context->real);
        if (!channel->real)
            return failed(failure, "completion channel %d", channel->channel.fd);
        virtual_make_nonblocking(channel->real->fd);
        channel->watching = 0;
    }
    FOR_EACH(struct v_cq, link, cq, &context->cqs)
    {
        struct v_channel *channel = (struct v_channel *)cq->cq.channel;
        cq->real = lower_device->create_cq(context->real, cq->wanted + cq->reserved, cq, channel ? channel->real : NULL,
                                           cq->vector);
        if (!cq->real)
            return failed(failure, "completion queue %p of %d entries", (void *)cq, cq->wanted);
        if (cq->failed && lower_device->fail_cq)
            lower_device->fail_cq(cq->real);
    }
    return 0;
}

static int modify(struct v_qp *qp, enum ibv_qp_state state, int mask)
{
    struct ibv_qp_attr attributes = qp->attributes;
    attributes.qp_state = state;
    attributes.port_num = qp->port->now.number;
    errno = lower_device->modify_qp(qp->real, &attributes, mask | IBV_QP_STATE);
    return errno ? -1 : 0;
}

/* Others that come meanwhile are the job's. Returns 0 or an errno. */
static int await_completion(struct v_qp *qp, const struct work *work, enum ibv_wc_status *status)
{
    enum { TRIES = 1000 };
    struct v_cq *cq = (struct v_cq *)qp->qp.send_cq;
    struct timespec pause = {0, 1000000};
    struct ibv_wc wc;
    for (int i = 0; i < TRIES; i++) {
        int got = virtual_poll_real(cq, 1, &wc);
        if (got > 0 && wc.wr_id == (uintptr_t)work) {
            *status = wc.status;
            return 0;
        }
        if (got > 0 && virtual_stash(cq, &wc, 1))
            return ENOMEM;
        if (!got)
            nanosleep(&pause, NULL);
    }
    return ETIMEDOUT;
}

int virtual_break_sends(struct v_qp *qp, struct work *work, struct ibv_ah *ah)
{
    enum { NO_KEY = 0xfffffe00 };
    struct ibv_sge sge = {.addr = (uintptr_t)work, .length = 1, .lkey = NO_KEY};
    struct ibv_send_wr wr = {.wr_id = (uintptr_t)work,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    enum ibv_wc_status status;
    wr.wr.ud.ah = ah;
    errno = lower_device->post_send(qp->real, &wr, &bad);
    if (!errno)
        errno = await_completion(qp, work, &status);
    return errno ? -1 : 0;
}

int virtual_await_request(struct v_qp *qp, struct work *work)
{
    enum ibv_wc_status status;
    int error = await_completion(qp, work, &status);
    return !error && status != IBV_WC_SUCCESS ? EIO : error;
}

static int break_sends(struct v_qp *qp)
{
    struct ibv_ah_attr self = {0};
    /* in no ring: see generic_poll.c */
    struct work work = {.state = WORK_SEND, .number = NUMBER_OTHER, .wr_id = (uintptr_t)&work};
    virtual_aim(&self, qp->port, qp->port->now.lid, &qp->port->now.gid);
    struct ibv_ah *ah = virtual_real_ah((struct v_pd *)qp->qp.pd, &self);
    return ah ? virtual_break_sends(qp, &work, ah) : -1;
}

static int rebuild_state(struct v_qp *qp)
{
    enum ibv_qp_state state = qp->qp.state;
    qp->repeats_last = state == IBV_QPS_ERR && qp->qp.srq;
    if (state == IBV_QPS_RESET)
        return 0;
    if (state == IBV_QPS_ERR && !qp->attributes.port_num) /* from RESET straight to ERR */
        return modify(qp, IBV_QPS_ERR, 0);
    if (modify(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
        return -1;
    if (state == IBV_QPS_INIT)
        return 0;
    if (state == IBV_QPS_ERR)
        return modify(qp, IBV_QPS_ERR, 0);
    if (modify(qp, IBV_QPS_RTR, 0))
        return -1;
    if (state != IBV_QPS_RTR && modify(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN))
        return -1;
    return state == IBV_QPS_SQE ? break_sends(qp) : 0;
}

static int refill(struct v_qp *qp)
{
    struct receiver to = {.qp = qp->real, .ring = &qp->receives};
    /* they were flushed before the checkpoint */
    if (qp->qp.srq || (!virtual_fused_path() && qp->qp.state == IBV_QPS_ERR))
        return 0;
    return virtual_fused_path() ? virtual_repost_kept(&qp->kept, &to) : virtual_repost_receives(&to);
}

static int rebuild_qp(struct v_qp *qp, struct failure *failure)
{
    struct ibv_qp_init_attr wanted = qp->wanted;
    uint32_t number = qp->qp.qp_num;
    wanted.qp_context = qp;
    wanted.send_cq = ((struct v_cq *)wanted.send_cq)->real;
    wanted.recv_cq = ((struct v_cq *)wanted.recv_cq)->real;
    wanted.srq = wanted.srq ? ((struct v_srq *)wanted.srq)->real : NULL;
    qp->real = lower_device->create_qp(((struct v_pd *)qp->qp.pd)->real, &wanted);
    if (!qp->real)
        return failed(failure, "queue pair 0x%06x: create", number);
    if (virtual_fused_path())
        virtual_fused_path()->adopt(qp->real, number);
    virtual_guard(qp);
    if (virtual_attach_again(qp))
        return failed(failure, "queue pair 0x%06x: attach to its multicast groups", number);
    if (qp->transport ? qp->transport->rebuild_state(qp) : rebuild_state(qp))
        return failed(failure, "queue pair 0x%06x: state %d", number, qp->qp.state);
    errno = virtual_register_qp(qp, number);
    if (errno)
        return failed(failure, "queue pair 0x%06x: register", number);
    if (refill(qp))
        return failed(failure, "queue pair 0x%06x: post its receives again", number);
    return 0;
}

static int rebuild_context(struct v_context *context, const char *device, struct failure *failure)
{
    context->real = virtual_open_place(context->identity);
    context->watching = 0;
    if (!context->real)
        return failed(failure, "verbs device %s", device);
    virtual_make_nonblocking(context->real->async_fd);
    errno = virtual_learn_real(context);
    if (errno)
        return failed(failure, "verbs device %s: its address", device);
    errno = virtual_tell_ports(context);
    if (errno)
        return failed(failure, "verbs device %s: the state of its ports", device);
    if (rebuild_memory(context, failure) || rebuild_queues(context, failure))
        return -1;
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    if (virtual_rebuild_srq(srq))
        return failed(failure, "shared receive queue %p of %u requests", (void *)srq, srq->wanted.attr.max_wr);
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    if (rebuild_qp(qp, failure))
        return -1;
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    if (virtual_refill_srq(srq))
        return failed(failure, "shared receive queue %p: post its receives again", (void *)srq);
    /* Receives may be posted and the armed queues hear of them only now, when their queue pairs exist. */
    FOR_EACH(struct v_cq, link, cq, &context->cqs)
    if (cq->armed && (errno = lower_device->req_notify_cq(cq->real, cq->armed == 1)))
        return failed(failure, "completion queue %p: request its notification", (void *)cq);
    return 0;
}

static int rebuild_shared(const struct udckpt_msg_rebuild *order, char *error, size_t size)
{
    char directory[sizeof control.runtime_dir];
    memcpy(directory, order->runtime_dir, sizeof directory);
    directory[sizeof directory - 1] = 0;
    request_forget();
    if (address_table_map(directory, error, size) || counters_map(directory, control.rank, error, size))
        return -1;
    gate_refresh_counters();
    strcpy(control.runtime_dir, directory);
    control.generation = order->generation;
    __atomic_store_n(&control.agent, AGENT_PRESENT, __ATOMIC_RELEASE);
    clock_add_downtime(order->downtime_ns);
    return 0;
}

static int keep_receives(struct v_context *context)
{
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    if ((qp->transport && qp->transport->keep_sends(qp)) ||
        (!qp->qp.srq && virtual_keep_receives(&qp->kept, &(struct receiver){.qp = qp->real})))
        return -1;
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    if (virtual_keep_receives(&srq->kept, &(struct receiver){.srq = srq->real}))
        return -1;
    return 0;
}

/* What the generic path has recorded goes back to the job's keys. */
static void untranslate(struct v_context *context)
{
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    {
        virtual_untranslate_receives(context, &qp->receives);
        if (qp->transport)
            qp->transport->untranslate_requests(qp);
    }
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    virtual_untranslate_receives(context, &srq->receives);
}

/* Returns 0 or an errno, when nothing has been forgotten yet. */
static int forget_old_life(void)
{
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    if (virtual_fused_path() && (keep_receives(context) || virtual_keep_windows(context)))
        return ENOMEM;
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    if (qp->transport && qp->transport->remember(qp))
        return ENOMEM;
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    if (keys_differ() && !virtual_fused_path())
        untranslate(context);
    virtual_keys_differ = 0;
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    lower_device->forget(context->real);
    FOR_EACH(struct v_ah, link, ah, &virtual_ahs)
    virtual_forget_routes(ah);
    virtual_free_retired_routes();
    virtual_forget_sources();
    virtual_forget_hosts();
    keys_file_forget();
    return 0;
}

int virtual_rebuild(const struct udckpt_msg_rebuild *order, char *error, size_t size)
{
    struct failure failure = {error, size};
    struct device_config config = {
        .lid = order->real_lid, .lids = order->real_lids, .qpn_first = order->qpn_first, .qpn_last = order->qpn_last};
    char device[sizeof order->device + 1] = {0};
    memcpy(device, order->device, sizeof order->device);
    if (!gate_is_closed()) {
        snprintf(error, size, "REBUILD with an open gate: this process is not quiesced");
        return -1;
    }
    if (rebuild_shared(order, error, size))
        return -1;
    errno = forget_old_life();
    if (errno)
        return failed(&failure, "the outstanding receives");
    int was_fused = virtual_fused_path() != NULL;
    errno = device[0] ? lower_device_switch(device) : 0;
    if (!errno && was_fused && !virtual_fused_path_of(lower_device))
        errno = EOPNOTSUPP; /* its contexts hold the soft fabric's own paths, and its objects no records of requests */
    if (errno)
        return failed(
            &failure, "verbs device %s%s", device,
            was_fused
                ? ": this job was started on the soft fabric; it goes on there (--device soft), or was to be started "
                  "with UDCKPT_DATA_PATH=generic"
                : "");
    virtual_set_host_number(order->real_lid);
    virtual_real.known = 0;
    virtual_moved = 1;
    if (lower_device->set_key)
        lower_device->set_key(address_table_key());
    errno = lower_device->configure(&config);
    if (errno)
        return failed(&failure, "LID %u with QPNs %u-%u", config.lid, config.qpn_first, config.qpn_last);
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    if (rebuild_context(context, device[0] ? device : context->device, &failure))
        return -1;
    generic_learn_calls();
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    generic_choose_paths(context);
    return 0;
}
