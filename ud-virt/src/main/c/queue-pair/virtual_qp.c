/* Queue pairs; what only connections have is in rc-virt. */
#include "transport.h"
#include "virtual.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "data-path/generic_path.h"
#include "device/qp_type.h"
#include "memory/virtual_window.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct transport_ops *connections;

const struct transport_ops *virtual_connections(void)
{
    return __atomic_load_n(&connections, __ATOMIC_ACQUIRE);
}

void virtual_connect_by(const struct transport_ops *transport)
{
    __atomic_store_n(&connections, transport, __ATOMIC_RELEASE);
}

static uint32_t with_transport(const struct v_qp *qp)
{
    return qp->qp.qp_num | (qp->transport ? NUMBER_OF_CONNECTION : 0);
}

static int make_rings(struct v_qp *qp, const struct ibv_qp_cap *cap)
{
    uint32_t sends = 16;
    /* twice: as virtual_make_ring(); a connection has its own ring */
    while (!qp_is_connected(qp->qp.qp_type) && sends < 2 * cap->max_send_wr)
        sends *= 2;
    qp->send_mask = sends - 1;
    qp->sends = calloc(sends, sizeof(struct work));
    return qp->sends && !virtual_make_receives(&qp->receives, cap->max_recv_wr, cap->max_recv_sge) ? 0 : -1;
}

/* The records of requests name their queue pair, once it has its number. */
static void name_rings(struct v_qp *qp)
{
    for (uint32_t i = 0; i <= qp->send_mask; i++)
        send_work(qp, i)->number = qp->qp.qp_num | NUMBER_OTHER;
    virtual_name_receives(&qp->receives, qp->transport ? qp->qp.qp_num | NUMBER_RECEIVED : qp->qp.qp_num);
    if (qp->transport)
        qp->transport->name_requests(qp);
}

static void free_qp(struct v_qp *qp)
{
    if (qp->transport)
        qp->transport->free(qp);
    free(qp->sends);
    free(qp->receives.works);
    free(qp);
}

static void name_port(const struct v_port *port, struct udckpt_msg_register *message)
{
    message->virtual_lid = port->lid;
    message->real_lid = port->now.lid;
    memcpy(message->virtual_gid, &port->gids[port->gid_index], sizeof message->virtual_gid);
    memcpy(message->real_gid, &port->now.gid, sizeof message->real_gid);
}

/* The program may read its number at any moment, also while a restart registers it again. */
static void set_number(struct v_qp *qp, uint32_t number)
{
    if (qp->qp.qp_num != number)
        qp->qp.qp_num = number;
}

static uint32_t transport_of(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_RC:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
        return UDCKPT_TRANSPORT_RC;
    case IBV_QPT_UC:
        return UDCKPT_TRANSPORT_UC;
    default:
        return UDCKPT_TRANSPORT_UD;
    }
}

/* Without an agent the number is the device's: there will be no restart that could change it. */
static int number(struct v_qp *qp, uint32_t virtual_qpn)
{
    struct udckpt_msg_register message = {
        .virtual_qpn = virtual_qpn, .real_qpn = qp->real->qp_num, .transport = transport_of(qp->qp.qp_type)};
    name_port(qp->port, &message);
    switch (request_register(&message)) {
    case REQUEST_OK:
        set_number(qp, message.virtual_qpn);
        return 0;
    case REQUEST_NO_AGENT:
        set_number(qp, virtual_qpn ? virtual_qpn : qp->real->qp_num);
        return 0;
    default:
        control_log("queue pair %u at LID %u: the agent refused to register it (virtual QPN %u)", qp->real->qp_num,
                    qp->port->now.lid, virtual_qpn);
        return EADDRINUSE;
    }
}

int virtual_register_qp(struct v_qp *qp, uint32_t virtual_qpn)
{
    int error = number(qp, virtual_qpn);
    uint32_t port = (uint32_t)(qp->port->number - 1) << NUMBER_PORT_SHIFT;
    if (!error && !virtual_fused_path() &&
        virtual_set_number(context_of(qp->qp.context), qp->real->qp_num, with_transport(qp) | port))
        error = ENOMEM;
    return error;
}

/* A queue pair is registered when it gets its number, at the first port; now the job has named another one. */
int virtual_enter_port(struct v_qp *qp, unsigned number)
{
    struct v_port *port = port_of(qp->qp.context, number);
    if (port == qp->port)
        return 0;
    virtual_unregister_qp(qp);
    qp->port = port;
    return virtual_register_qp(qp, qp->qp.qp_num);
}

void virtual_unregister_qp(struct v_qp *qp)
{
    struct udckpt_msg_register message = {.virtual_qpn = qp->qp.qp_num};
    name_port(qp->port, &message);
    request_unregister(&message);
}

static int check(const struct ibv_qp_init_attr *wanted)
{
    static unsigned said; /* one line for each type */
    unsigned bit = 1u << ((unsigned)wanted->qp_type & 31);
    int xrc = wanted->qp_type == IBV_QPT_XRC_SEND || wanted->qp_type == IBV_QPT_XRC_RECV;
    if ((wanted->qp_type != IBV_QPT_UD && !qp_is_connected(wanted->qp_type)) ||
        (xrc && !lower_device->create_xrc_srq)) {
        if (!(__atomic_fetch_or(&said, bit, __ATOMIC_RELAXED) & bit))
            control_log("ibv_create_qp is not supported for queue pairs of type %s: use UD, UC or RC",
                        qp_type_name(wanted->qp_type));
        return EOPNOTSUPP;
    }
    return wanted->send_cq && wanted->recv_cq ? 0 : EINVAL;
}

void virtual_guard(struct v_qp *qp)
{
    if (!virtual_fused_path() && virtual_fused_path_of(lower_device))
        virtual_fused_path_of(lower_device)->guard(qp->real);
}

static int fill(struct v_qp *qp, struct v_pd *pd, struct ibv_qp_init_attr *wanted)
{
    struct ibv_qp_init_attr real = *wanted;
    real.qp_context = qp;
    real.send_cq = ((struct v_cq *)wanted->send_cq)->real;
    real.recv_cq = ((struct v_cq *)wanted->recv_cq)->real;
    real.srq = wanted->srq ? ((struct v_srq *)wanted->srq)->real : NULL;
    qp->real = lower_device->create_qp(pd->real, &real);
    if (!qp->real)
        return errno;
    wanted->cap = real.cap;
    qp->wanted = *wanted;
    qp->qp.context = pd->pd.context;
    qp->port = &context_of(pd->pd.context)->identity->ports[0];
    qp->qp.qp_context = wanted->qp_context;
    qp->qp.pd = &pd->pd;
    qp->qp.send_cq = wanted->send_cq;
    qp->qp.recv_cq = wanted->recv_cq;
    qp->qp.srq = wanted->srq;
    qp->qp.qp_type = wanted->qp_type;
    qp->qp.state = IBV_QPS_RESET;
    pthread_mutex_init(&qp->qp.mutex, NULL);
    pthread_cond_init(&qp->qp.cond, NULL);
    if (!virtual_fused_path() && make_rings(qp, &real.cap))
        return ENOMEM;
    qp->transport = qp_is_connected(wanted->qp_type) ? virtual_connections() : NULL;
    int error = qp->transport ? qp->transport->make(qp, &real.cap) : 0;
    if (!error)
        error = virtual_register_qp(qp, 0);
    if (!error && virtual_fused_path())
        virtual_fused_path()->adopt(qp->real, qp->qp.qp_num);
    else if (!error)
        name_rings(qp);
    if (!error)
        virtual_guard(qp);
    return error;
}

static struct v_qp *create(struct v_pd *pd, struct ibv_qp_init_attr *wanted)
{
    int error = check(wanted);
    struct v_qp *qp = error ? NULL : calloc(1, sizeof *qp);
    if (!qp) {
        errno = error ? error : ENOMEM;
        return NULL;
    }
    error = fill(qp, pd, wanted);
    if (error) {
        if (qp->real)
            lower_device->destroy_qp(qp->real);
        free_qp(qp);
        errno = error;
        return NULL;
    }
    pd_used(&pd->pd, 1);
    pthread_mutex_lock(&virtual_mutex);
    generic_learn_calls();
    generic_choose_path(qp);
    list_append(&context_of(pd->pd.context)->qps, &qp->link);
    pthread_mutex_unlock(&virtual_mutex);
    return qp;
}

struct ibv_qp *virtual_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *wanted)
{
    if (!gate_enter())
        return NULL;
    struct v_qp *qp = create((struct v_pd *)pd, wanted);
    gate_leave();
    return qp ? &qp->qp : NULL;
}

/* Another thread may be at a completion of one that was polled already. */
static void forget_requests(struct v_qp *qp)
{
    for (uint32_t i = 0; qp->sends && i <= qp->send_mask; i++)
        free_work(send_work(qp, i));
    if (qp->transport)
        qp->transport->forget_requests(qp);
    for (uint32_t at = 0; qp->receives.works && at <= qp->receives.mask; at += qp->receives.stride)
        free_work(&receive_at(&qp->receives, at)->work);
    virtual_unstash_qp((struct v_cq *)qp->qp.send_cq, qp->qp.qp_num);
    virtual_unstash_qp((struct v_cq *)qp->qp.recv_cq, qp->qp.qp_num);
}

static void record(struct v_qp *qp, const struct ibv_qp_attr *attributes, int mask)
{
    if (mask & IBV_QP_QKEY)
        qp->attributes.qkey = attributes->qkey;
    if (mask & IBV_QP_PKEY_INDEX)
        qp->attributes.pkey_index = attributes->pkey_index;
    if (mask & IBV_QP_PORT)
        qp->attributes.port_num = attributes->port_num;
    if (mask & IBV_QP_SQ_PSN)
        qp->attributes.sq_psn = attributes->sq_psn;
    if (mask & IBV_QP_STATE)
        qp->qp.state = attributes->qp_state;
    if ((mask & IBV_QP_STATE) && attributes->qp_state == IBV_QPS_RESET) {
        memset(&qp->attributes, 0, sizeof qp->attributes);
        forget_requests(qp);
    }
}

/* A restart would have to find the drained queue's requests where they were; nobody has asked for it yet. */
static int refuse_drained(void)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        control_log(
            "ibv_modify_qp is not supported for the send queue drained state (SQD): wait for the completions instead");
    return EOPNOTSUPP;
}

static int modify(struct v_qp *qp, const struct ibv_qp_attr *attributes, int mask)
{
    struct ibv_qp_attr real = *attributes;
    if ((mask & IBV_QP_STATE) && attributes->qp_state == IBV_QPS_SQD)
        return refuse_drained();
    if (mask & IBV_QP_PORT) {
        const struct v_port *port = port_of(qp->qp.context, attributes->port_num);
        if (!port)
            return EINVAL;
        real.port_num = port->now.number;
    }
    int error = qp->transport ? qp->transport->modify(qp, attributes, &real, mask)
                              : lower_device->modify_qp(qp->real, &real, mask);
    return error || !(mask & IBV_QP_PORT) ? error : virtual_enter_port(qp, attributes->port_num);
}

int virtual_modify_qp(struct ibv_qp *virtual, struct ibv_qp_attr *attributes, int mask)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = modify(qp, attributes, mask);
    if (!error)
        record(qp, attributes, mask);
    gate_leave();
    return error;
}

/* A queue pair that was rebuilt in the error state has not passed the states in which a device takes all of these. */
static void recall(const struct v_qp *qp, struct ibv_qp_attr *attributes)
{
    attributes->qkey = qp->attributes.qkey;
    attributes->pkey_index = qp->attributes.pkey_index;
    attributes->port_num = qp->attributes.port_num;
    attributes->sq_psn = qp->attributes.sq_psn & 0xffffff;
}

int virtual_query_qp(struct ibv_qp *virtual, struct ibv_qp_attr *attributes, int mask, struct ibv_qp_init_attr *init)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = lower_device->query_qp(qp->real, attributes, mask, init);
    if (!error) {
        struct ibv_qp_cap cap = init->cap;
        *init = qp->wanted;
        init->cap = cap;
        if (qp->transport)
            qp->transport->answer_query(qp, attributes);
        else
            recall(qp, attributes);
        virtual->state = attributes->qp_state;
    }
    gate_leave();
    return error;
}

/* The peer may answer a message before ibv_post_send has returned from sending it, and the program destroy the queue
 * pair for the answer: that other thread still works on it. A device's own posting ends with the message. */
int virtual_destroy_qp(struct ibv_qp *virtual)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    virtual_others_have_left();
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = is_closed(virtual->context) ? 0 : lower_device->destroy_qp(qp->real);
    if (!error) {
        if (!is_closed(virtual->context))
            virtual_unregister_qp(qp);
        virtual_withdraw_events(context_of(virtual->context), virtual);
        forget_requests(qp);
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&qp->link);
        virtual_forget_windows_of(context_of(virtual->context), NULL, qp);
        pthread_mutex_unlock(&virtual_mutex);
        pd_used(virtual->pd, -1);
    }
    gate_leave();
    if (!error) {
        virtual_wait_acknowledged(&virtual->mutex, &virtual->cond, &virtual->events_completed, &qp->async_delivered);
        if (virtual_nobody_reads_records())
            free_qp(qp);
    }
    return error;
}
