/* Multicast: every attached queue pair gets a copy, nobody else does. The groups are random, so that others on this
 * machine are in other ones. */
#include "fabric.h"
#include <fcntl.h>
#include <sys/random.h>

enum { MLID = 0xc123 };

static union ibv_gid random_group(void)
{
    union ibv_gid gid = {.raw = {0xff, 0x12, 0x40, 0x1b}};
    CHECK(getrandom(gid.raw + 4, 12, 0) == 12);
    return gid;
}

static struct ibv_ah *group_ah(struct end *end, const union ibv_gid *gid, uint16_t lid)
{
    struct ibv_ah_attr attr = {.dlid = lid, .port_num = 1, .is_global = 1, .grh = {.dgid = *gid, .hop_limit = 3}};
    struct ibv_ah *ah = ibv_create_ah(end->pd, &attr);
    CHECK(ah);
    return ah;
}

static void send_to(struct end *from, struct ibv_ah *ah, uint32_t qkey, unsigned flags)
{
    struct ibv_sge sge = sge_at(from, 0x40000, 100);
    struct ibv_send_wr wr = send_wr(from, &sge, flags), *bad;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = 0xffffff;
    wr.wr.ud.remote_qkey = qkey;
    EQUAL(0, ibv_post_send(from->qp, &wr, &bad));
}

static void copies(void)
{
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){0}),
               c = make_end((struct end_options){.share = &b});
    struct end *ends[] = {&a, &b, &c};
    union ibv_gid gid = random_group(), own;
    struct ibv_ah *ah = group_ah(&a, &gid, MLID);
    struct ibv_wc wc;
    EQUAL(0, ibv_query_gid(a.context, 1, 0, &own));
    fill(a.memory + 0x40000, 100, 5);
    EQUAL(0, ibv_attach_mcast(a.qp, &gid, MLID));
    EQUAL(0, ibv_attach_mcast(b.qp, &gid, MLID));
    EQUAL(0, ibv_attach_mcast(b.qp, &gid, MLID)); /* twice is once */
    for (unsigned i = 0; i < 3; i++)
        EQUAL(0, post_recv(ends[i], i * 1024, 512));
    send_to(&a, ah, QKEY, IBV_SEND_SIGNALED);
    EQUAL(1, poll_for(a.send_cq, 1, &wc));
    for (unsigned i = 0; i < 2; i++) {
        struct ibv_grh *grh = (struct ibv_grh *)(ends[i]->memory + i * 1024);
        EQUAL(1, poll_for(ends[i]->recv_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(GRH + 100, wc.byte_len);
        EQUAL(ends[i]->qp->qp_num, wc.qp_num);
        EQUAL(a.qp->qp_num, wc.src_qp);
        EQUAL(IBV_WC_GRH, wc.wc_flags);
        CHECK(!memcmp(&grh->dgid, &gid, sizeof gid) && !memcmp(&grh->sgid, &own, sizeof own));
        CHECK(is_filled((char *)(grh + 1), 100, 5));
        CHECK(stays_empty(ends[i]->recv_cq));
    }
    CHECK(stays_empty(c.recv_cq));
    EQUAL(EBUSY, ibv_destroy_qp(b.qp));
    EQUAL(0, ibv_detach_mcast(b.qp, &gid, MLID));
    EQUAL(EINVAL, ibv_detach_mcast(b.qp, &gid, MLID));
    EQUAL(0, post_recv(&b, 0, 512));
    send_to(&a, ah, QKEY, 0);
    CHECK(stays_empty(b.recv_cq));
    EQUAL(0, ibv_destroy_qp(b.qp));
}

/* Another group, Q_Key, QPN or LID; a queue pair that is not ready or has nothing posted: nothing is delivered. */
static void not_delivered(void)
{
    struct end a = make_end((struct end_options){0});
    union ibv_gid gid = random_group(), other = gid;
    struct ibv_wc wc;
    other.raw[15] ^= 1;
    EQUAL(0, ibv_attach_mcast(a.qp, &gid, MLID));
    EQUAL(0, post_recv(&a, 0, 512));
    send_to(&a, group_ah(&a, &other, MLID), QKEY, 0);
    send_to(&a, group_ah(&a, &gid, MLID + 1), QKEY, 0);
    send_to(&a, group_ah(&a, &gid, MLID), QKEY + 1, 0);
    CHECK(stays_empty(a.recv_cq));
    struct ibv_send_wr wr = send_wr(&a, NULL, 0), *bad;
    wr.wr.ud.ah = group_ah(&a, &gid, MLID);
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    CHECK(stays_empty(a.recv_cq));
    send_to(&a, group_ah(&a, &gid, MLID), QKEY, 0);
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    send_to(&a, group_ah(&a, &gid, MLID), QKEY, 0); /* nothing posted */
    EQUAL(0, post_recv(&a, 0, 512));
    CHECK(stays_empty(a.recv_cq));
}

static void refused(void)
{
    struct end a = make_end((struct end_options){0});
    union ibv_gid gid = random_group(), unicast;
    EQUAL(0, ibv_query_gid(a.context, 1, 0, &unicast));
    EQUAL(EINVAL, ibv_attach_mcast(a.qp, &unicast, MLID));
    EQUAL(EINVAL, ibv_attach_mcast(a.qp, &gid, 5));
    struct ibv_ah_attr attr = {.dlid = MLID, .port_num = 1};
    errno = 0;
    CHECK(!ibv_create_ah(a.pd, &attr)); /* no GRH */
    EQUAL(EINVAL, errno);
}

/* Attached before or after the queue pair is ready and its queue armed; solicited or not. */
static void sleeper(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1, .stay_in_reset = 1}),
               b = make_end((struct end_options){0});
    union ibv_gid gid = random_group(), second = random_group();
    struct ibv_ah *ah = group_ah(&b, &gid, MLID), *ah2 = group_ah(&b, &second, MLID);
    struct ibv_cq *cq;
    void *context;
    struct ibv_wc wc;
    EQUAL(0, ibv_attach_mcast(a.qp, &gid, MLID));
    EQUAL(0, to_init(a.qp, QKEY));
    EQUAL(0, post_recv(&a, 0, 512));
    send_to(&b, ah, QKEY, 0); /* too early */
    EQUAL(0, to_rtr(a.qp));
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 1));
    EQUAL(0, ibv_attach_mcast(a.qp, &second, MLID));
    int flags = fcntl(a.channel->fd, F_GETFL);
    EQUAL(0, fcntl(a.channel->fd, F_SETFL, flags | O_NONBLOCK));
    EQUAL(0, post_recv(&a, 1024, 512));
    send_to(&b, ah, QKEY, 0);
    EQUAL(-1, ibv_get_cq_event(a.channel, &cq, &context));
    EQUAL(0, fcntl(a.channel->fd, F_SETFL, flags));
    send_to(&b, ah2, QKEY, IBV_SEND_SOLICITED);
    EQUAL(0, ibv_get_cq_event(a.channel, &cq, &context));
    ibv_ack_cq_events(cq, 1);
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(0, wc.wr_id);
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(1024, wc.wr_id);
}

int main(int argc, char **argv)
{
    return run_cases(
        argc, argv,
        (struct fabric_case[]){
            {"copies", copies}, {"not-delivered", not_delivered}, {"refused", refused}, {"sleeper", sleeper}, {0}});
}
