/* Making, destroying and moving objects. */
#include "verbs_walk.h"
#include <errno.h>

static void make_cq(int i)
{
    struct walk_cq *c = &walk.cqs[i];
    NEED(c->channel = ibv_create_comp_channel(walk.context));
    if (pick(2)) {
        struct ibv_cq_init_attr_ex attr = {
            .cqe = CQ_SIZE, .cq_context = c, .channel = c->channel, .wc_flags = IBV_WC_STANDARD_FLAGS};
        NEED(c->ex = ibv_create_cq_ex(walk.context, &attr));
        c->cq = ibv_cq_ex_to_cq(c->ex);
    } else {
        c->ex = NULL;
        NEED(c->cq = ibv_create_cq(walk.context, CQ_SIZE, c, c->channel, 0));
    }
    printf("cq%d made %s", i, c->ex ? "extended" : "plain");
}

static void end_cq(int i)
{
    struct walk_cq *c = &walk.cqs[i];
    int error = ibv_destroy_cq(c->cq);
    if (!error) {
        c->cq = NULL;
        NEED(!ibv_destroy_comp_channel(c->channel));
    }
    printf("cq%d destroy: %d", i, error);
}

static void make_srq(int i)
{
    struct ibv_srq_init_attr init = {.srq_context = &walk.srqs[i], .attr = {.max_wr = RECEIVES, .max_sge = 2}};
    NEED(walk.srqs[i].srq = ibv_create_srq(walk.pd, &init));
    printf("srq%d made", i);
}

static void limit_srq(int i)
{
    struct ibv_srq_attr attr = {.srq_limit = 1 + pick(RECEIVES)}, now;
    walk_poll_all(); /* from here on only what is posted counts */
    NEED(!ibv_modify_srq(walk.srqs[i].srq, &attr, IBV_SRQ_LIMIT));
    NEED(!ibv_query_srq(walk.srqs[i].srq, &now) && now.max_wr == RECEIVES);
    printf("srq%d limit %u", i, now.srq_limit);
}

static void end_srq(int i)
{
    int error = ibv_destroy_srq(walk.srqs[i].srq);
    if (!error) {
        for (unsigned b = 0; b < BUFFERS; b++)
            walk.taken[b] = walk.taken[b] == QPS + 1 + i ? 0 : walk.taken[b];
        walk.srqs[i] = (struct walk_srq){0};
    }
    printf("srq%d destroy: %d", i, error);
}

/* The queue pairs of a shared queue share a completion queue: the order between them is then the arrivals'. */
static void make_qp(int i)
{
    struct walk_qp *q = &walk.qps[i];
    int srq = (int)pick(SRQS + 1) - 1, cq = srq < 0 ? (int)pick(CQS) : srq % CQS;
    if (!walk.cqs[cq].cq || (srq >= 0 && !walk.srqs[srq].srq)) {
        printf("qp%d not made", i);
        return;
    }
    struct ibv_qp_init_attr_ex init = {.qp_context = q,
                                       .send_cq = walk.cqs[cq].cq,
                                       .recv_cq = walk.cqs[cq].cq,
                                       .srq = srq < 0 ? NULL : walk.srqs[srq].srq,
                                       .cap = {SENDS, RECEIVES, 2, 2, INLINE},
                                       .qp_type = IBV_QPT_UD,
                                       .sq_sig_all = (int)pick(2),
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .pd = walk.pd,
                                       .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM};
    *q = (struct walk_qp){.cq = cq, .srq = srq};
    int extended = (int)pick(2);
    NEED(q->qp = extended ? ibv_create_qp_ex(walk.context, &init)
                          : ibv_create_qp(walk.pd, (struct ibv_qp_init_attr *)&init));
    q->ex = ibv_qp_to_qp_ex(q->qp);
    printf("qp%d made on cq%d srq%d %s", i, cq, srq, q->ex ? "extended" : "plain");
}

/* What was posted to it can be used again; what was sent to it is gone. */
static void forget(int i)
{
    for (unsigned b = 0; b < BUFFERS; b++)
        walk.taken[b] = walk.taken[b] == i + 1 ? 0 : walk.taken[b];
    walk.qps[i].queue = (struct walk_queue){0};
}

static void end_qp(int i)
{
    walk_poll_all();
    int error = ibv_destroy_qp(walk.qps[i].qp);
    if (!error) {
        forget(i);
        walk.qps[i].qp = NULL;
    }
    printf("qp%d destroy: %d", i, error);
}

void walk_objects(void)
{
    int kind = (int)pick(8), i;
    if (kind < 4) {
        i = (int)pick(QPS);
        walk.qps[i].qp ? (pick(3) ? walk_query() : end_qp(i)) : make_qp(i);
    } else if (kind < 6) {
        i = (int)pick(CQS);
        walk.cqs[i].cq ? end_cq(i) : make_cq(i);
    } else {
        i = (int)pick(SRQS);
        !walk.srqs[i].srq ? make_srq(i) : pick(3) ? limit_srq(i) : end_srq(i);
    }
}

void walk_groups(void)
{
    int i = (int)pick(QPS), g = (int)pick(GROUPS), join = (int)pick(3);
    struct walk_qp *q = &walk.qps[i];
    walk_poll_all();
    if (!q->qp || q->queue.risky)
        return;
    int error = join ? ibv_attach_mcast(q->qp, &walk.mgids[g], walk.mlids[g])
                     : ibv_detach_mcast(q->qp, &walk.mgids[g], walk.mlids[g]);
    if (!error)
        q->attached[g] = join > 0;
    q->mixed |= join > 0;
    printf("qp%d %s group%d: %d", i, join ? "attach" : "detach", g, error);
}

static int move(struct walk_qp *q, enum ibv_qp_state to, int mask)
{
    struct ibv_qp_attr attr = {.qp_state = to, .port_num = 1, .qkey = q->qkey, .sq_psn = 5};
    return ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | mask);
}

static int advance(struct walk_qp *q)
{
    switch (walk_state(q)) {
    case IBV_QPS_RESET:
        q->qkey = pick(5) ? QKEY : OTHER_QKEY;
        return move(q, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    case IBV_QPS_INIT:
        return move(q, IBV_QPS_RTR, 0);
    case IBV_QPS_RTR:
        return move(q, IBV_QPS_RTS, IBV_QP_SQ_PSN);
    case IBV_QPS_SQE:
        return move(q, IBV_QPS_RTS, 0);
    case IBV_QPS_ERR:
        walk_poll_all();
        forget((int)(q - walk.qps));
        return move(q, IBV_QPS_RESET, 0);
    default:
        return move(q, (enum ibv_qp_state)pick(7), 0); /* often refused */
    }
}

void walk_modify(void)
{
    int i = (int)pick(QPS), times = 1 + (int)pick(4);
    struct walk_qp *q = &walk.qps[i];
    walk_poll_all();
    if (!q->qp) {
        make_qp(i);
        return;
    }
    printf("qp%d", i);
    while (times-- && walk_state(q) != IBV_QPS_RTS)
        printf(" modify: %d", advance(q));
    if (!pick(12))
        printf(" modify: %d", advance(q));
    if (walk_state(q) == IBV_QPS_RESET) {
        forget(i);
    }
    printf(" state %d", walk_state(q));
}
