/* The generic path (the other one: fused_path.c): entry of each call, and the choice of the path that it takes. */
#include "generic_path.h"
#include "fused_path.h"
#include "queue-pair/transport.h"

int virtual_moved;

static int look_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return qp->context->ops.post_send(qp, wr, bad);
}

static int look_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return qp->context->ops.post_recv(qp, wr, bad);
}

static int look_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    return cq->context->ops.poll_cq(cq, count, wc);
}

/* Nothing calls these before there is a context. */
struct device_calls generic_calls = {look_send, look_receive, look_poll};

/* Other threads may be calling them: what they call is right for the objects that they have. */
void generic_learn_calls(void)
{
    struct device_calls calls = {0};
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    {
        const struct ibv_context_ops *ops = &context->real->ops;
        calls.post_send = !calls.post_send || calls.post_send == ops->post_send ? ops->post_send : look_send;
        calls.post_recv = !calls.post_recv || calls.post_recv == ops->post_recv ? ops->post_recv : look_receive;
        calls.poll_cq = !calls.poll_cq || calls.poll_cq == ops->poll_cq ? ops->poll_cq : look_poll;
    }
    __atomic_store_n(&generic_calls.post_send, calls.post_send, __ATOMIC_RELEASE);
    __atomic_store_n(&generic_calls.post_recv, calls.post_recv, __ATOMIC_RELEASE);
    __atomic_store_n(&generic_calls.poll_cq, calls.poll_cq, __ATOMIC_RELEASE);
}

static int is_translated(void)
{
    return virtual_moved || keys_differ();
}

static int (*way_of_sends(const struct v_qp *qp))(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **)
{
    if (qp->qp.qp_type == IBV_QPT_XRC_SEND)
        return qp->transport->post_list; /* its requests have one field more */
    if (qp->transport)
        return is_translated() ? qp->transport->post_translated : qp->transport->post_plain;
    if (qp->wanted.sq_sig_all)
        return generic_post_recorded;
    return is_translated() ? generic_post_translated : generic_post_plain;
}

/* A queue pair that is not called by its real number has completions that have to be renamed. */
static void choose_poll(struct v_cq *cq, int renamed)
{
    if (context_of(cq->cq.context)->has_windows)
        __atomic_store_n(&cq->poll, generic_poll_noted, __ATOMIC_RELAXED);
    else if (virtual_moved || renamed)
        __atomic_store_n(&cq->poll, generic_poll_translated, __ATOMIC_RELAXED);
}

void generic_choose_path(struct v_qp *qp)
{
    int renamed = qp->qp.qp_num != qp->real->qp_num;
    if (virtual_fused_path())
        return;
    __atomic_store_n(&qp->post_send, way_of_sends(qp), __ATOMIC_RELAXED);
    __atomic_store_n(&qp->post_recv, is_translated() ? generic_receive_translated : generic_receive_plain,
                     __ATOMIC_RELAXED);
    choose_poll((struct v_cq *)qp->qp.send_cq, renamed);
    choose_poll((struct v_cq *)qp->qp.recv_cq, renamed);
}

void generic_choose_paths(struct v_context *context)
{
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    generic_choose_path(qp);
    FOR_EACH(struct v_cq, link, cq, &context->cqs)
    choose_poll(cq, 0);
}

int generic_post_send(struct ibv_qp *virtual, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    return LIKELY(gate_enter_fast()) ? LOOK_AT(qp->post_send)(qp, wr, bad) : generic_send_after_look(qp, wr, bad);
}

int generic_post_recv(struct ibv_qp *virtual, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    return LIKELY(gate_enter_fast()) ? LOOK_AT(qp->post_recv)(qp, wr, bad) : generic_receive_after_look(qp, wr, bad);
}

int generic_poll_cq(struct ibv_cq *virtual, int count, struct ibv_wc *wc)
{
    struct v_cq *cq = (struct v_cq *)virtual;
    return LIKELY(gate_enter_fast()) ? LOOK_AT(cq->poll)(cq, count, wc) : generic_poll_after_look(cq, count, wc);
}
