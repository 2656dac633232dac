/* Events and questions. What is armed is armed with nothing left to poll, so that each event has a completion of its
 * own. */
#include "verbs_walk.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

void walk_notify(void)
{
    int i = (int)pick(CQS), solicited = (int)pick(2);
    walk_poll_all();
    if (walk.cqs[i].cq)
        printf("cq%d arm %d: %d", i, solicited, ibv_req_notify_cq(walk.cqs[i].cq, solicited));
}

void walk_event(void)
{
    int i = (int)pick(CQS);
    struct ibv_cq *cq;
    void *context;
    walk_poll_all();
    if (!walk.cqs[i].cq)
        return;
    int fd = walk.cqs[i].channel->fd, flags = fcntl(fd, F_GETFL);
    NEED(!fcntl(fd, F_SETFL, flags | O_NONBLOCK));
    if (ibv_get_cq_event(walk.cqs[i].channel, &cq, &context)) {
        NEED(errno == EAGAIN);
        printf("cq%d no event", i);
    } else {
        NEED(cq == walk.cqs[i].cq && context == &walk.cqs[i]);
        ibv_ack_cq_events(cq, 1);
        printf("cq%d event", i);
    }
    NEED(!fcntl(fd, F_SETFL, flags));
}

static void say(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        printf(" srq%d limit reached", (int)((struct walk_srq *)event->element.srq->srq_context - walk.srqs));
        break;
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        printf(" qp%d last request", (int)((struct walk_qp *)event->element.qp->qp_context - walk.qps));
        break;
    default:
        printf(" event %d", event->event_type);
    }
}

void walk_async(void)
{
    struct ibv_async_event event;
    struct pollfd fd = {.fd = walk.context->async_fd, .events = POLLIN};
    walk_poll_all();
    int flags = fcntl(fd.fd, F_GETFL), ready = poll(&fd, 1, 0) == 1;
    NEED(!fcntl(fd.fd, F_SETFL, flags | O_NONBLOCK));
    printf("asynchronous:");
    while (!ibv_get_async_event(walk.context, &event)) {
        NEED(ready); /* ready without an event it may be: its object has gone since */
        say(&event);
        ibv_ack_async_event(&event);
    }
    NEED(errno == EAGAIN && !fcntl(fd.fd, F_SETFL, flags));
}

void walk_query(void)
{
    struct ibv_port_attr port;
    union ibv_gid gid;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    int i = (int)pick(QPS);
    NEED(!ibv_query_port(walk.context, 1, &port) && port.lid == walk.lid);
    NEED(!ibv_query_gid(walk.context, 1, 0, &gid) && !memcmp(&gid, &walk.gid, sizeof gid));
    walk_poll_all();
    if (!walk.qps[i].qp)
        return;
    struct walk_qp *q = &walk.qps[i];
    NEED(!ibv_query_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_PORT | IBV_QP_CAP, &init));
    NEED(init.send_cq == walk.cqs[q->cq].cq && init.recv_cq == init.send_cq && init.qp_context == q);
    NEED(init.srq == (q->srq < 0 ? NULL : walk.srqs[q->srq].srq) && q->qp->pd == walk.pd &&
         q->qp->context == walk.context);
    printf("qp%d state %d qkey 0x%x port %d psn %u cap %u %u %u %u %u all %d", i, attr.qp_state, attr.qkey,
           attr.port_num, attr.sq_psn, attr.cap.max_send_wr, attr.cap.max_recv_wr, attr.cap.max_send_sge,
           attr.cap.max_recv_sge, attr.cap.max_inline_data, init.sq_sig_all);
}

void walk_resize(void)
{
    int i = (int)pick(CQS), size = CQ_SIZE + (int)pick(CQ_SIZE);
    walk_poll_all();
    if (walk.cqs[i].cq)
        printf("cq%d resize: %d %d", i, ibv_resize_cq(walk.cqs[i].cq, size), walk.cqs[i].cq->cqe >= size);
}
