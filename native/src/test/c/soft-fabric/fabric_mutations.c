/* Datagrams and packets of all kinds, some of them recorded at a socket in the place of a peer, sent from there with
 * changes by chance, into a queue pair that has receives posted and requests under way. Nothing is asked but that the
 * device stands it, watched by a sanitizer. FABRIC_SEED and FABRIC_COUNT: which changes, and how many (20,000). */
#include "fabric_packets.h"
#include "fabric_xrc_ends.h"

enum { COUNT = 20000, PART = 1024 };

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

/* Receives of many forms are always posted; those that have failed the queue pair are posted to it anew. */
static void keep_receiving(struct end *end)
{
    struct ibv_wc wc[16];
    int got = ibv_poll_cq(end->recv_cq, 16, wc);
    for (int i = 0; i < got; i++)
        CHECK(!post_recv(end, wc[i].wr_id, (uint32_t)(wc[i].wr_id >> 10 & 15) * 300));
    if (state_of(end->qp) != IBV_QPS_ERR)
        return;
    while (ibv_poll_cq(end->recv_cq, 16, wc) > 0)
        ;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    EQUAL(0, ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
    EQUAL(0, to_init(end->qp, QKEY));
    EQUAL(0, to_rtr(end->qp));
    EQUAL(0, to_rts(end->qp));
    for (size_t i = 0; i < 32; i++)
        CHECK(!post_recv(end, i << 10, (uint32_t)(i & 15) * 300));
}

static void datagrams(void)
{
    static struct packets recorded;
    struct end end = make_end((struct end_options){0});
    struct end other = make_end((struct end_options){.share = &end});
    struct packet_peer peer = packet_peer(own_lid(end.context));
    peer.own = end.qp->qp_num;
    for (size_t i = 0; i < 32; i++)
        CHECK(!post_recv(&end, i << 10, (uint32_t)(i & 15) * 300));
    /* What the other one sends to the peer's number is what is recorded. */
    for (uint32_t i = 0; i < 64; i++) {
        struct ibv_sge sge = sge_at(&other, 0x40000, i < 60 ? i * 70 : 4096);
        struct ibv_send_wr wr = send_wr(&other, &sge, i % 2 ? IBV_SEND_SOLICITED : 0), *bad;
        wr.wr.ud.remote_qpn = peer.qpn;
        wr.opcode = i % 3 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
        EQUAL(0, ibv_post_send(other.qp, &wr, &bad));
        record_packets(&recorded, peer.fd);
    }
    CHECK(recorded.count > 30);
    for (long i = number("FABRIC_COUNT", COUNT); i; i--) {
        deliver_changed(&recorded, peer, DATAGRAM_SOURCE);
        keep_receiving(&end);
    }
}

/* Connected anew when a packet has ended the connection. */
static void connect_anew(struct end *end, uint32_t peer, uint16_t lid)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct pair_options options = {0};
    struct ibv_wc wc[16];
    EQUAL(0, ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
    while (ibv_poll_cq(end->recv_cq, 16, wc) > 0 || ibv_poll_cq(end->send_cq, 16, wc) > 0)
        ;
    EQUAL(0, to_init_rc(end->qp, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                     IBV_ACCESS_REMOTE_ATOMIC));
    int unreliable = end->qp->qp_type == IBV_QPT_UC;
    EQUAL(0, unreliable ? to_rtr_uc(end->qp, peer, lid, options, 0) : to_rtr_rc(end->qp, peer, lid, options, 0));
    EQUAL(0, unreliable ? to_rts_uc(end->qp, 0) : to_rts_rc(end->qp, options, 0));
}

static void post_some(struct end *end, uint32_t i)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND,          IBV_WR_RDMA_WRITE,
                                                 IBV_WR_RDMA_READ,     IBV_WR_ATOMIC_FETCH_AND_ADD,
                                                 IBV_WR_SEND_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP};
    struct operation operation = {.opcode = opcodes[i % 6],
                                  .id = i,
                                  .local = 0x20000,
                                  .remote = 0,
                                  .length = i % 6 == 3 || i % 6 == 5 ? 8 : 100 + i % 3000,
                                  .flags = IBV_SEND_SIGNALED};
    post(end, end, operation); /* refused when its queue is full */
}

/* A queue pair's own requests, as a peer gets them, and each kind of packet. */
static void collect(struct packets *all, struct end *end, struct packet_peer peer)
{
    for (uint32_t i = 0; all->count < PACKETS / 3 && i < 1000; i++) {
        struct ibv_wc wc[16];
        post_some(end, i);
        usleep(1000);
        record_packets(all, peer.fd);
        ibv_poll_cq(end->send_cq, 16, wc);
    }
    CHECK(all->count > 4);
    build_packets(all, (struct packet_names){.address = (uintptr_t)end->memory, .rkey = end->mr->rkey});
}

static void packets_of(int unreliable)
{
    static struct packets all;
    struct end_pair pair = make_pair((struct pair_options){.not_connected = 1, .unreliable = unreliable});
    struct end *end = &pair.a;
    struct packet_peer peer = packet_peer(own_lid(end->context));
    peer.own = end->qp->qp_num;
    connect_anew(end, peer.qpn, peer.lid);
    collect(&all, end, peer);
    for (long i = number("FABRIC_COUNT", COUNT); i; i--) {
        struct ibv_wc wc[16];
        if (packet_chance() % 8 == 0)
            post_recv(end, (packet_chance() & 15) << 10, 900);
        if (packet_chance() % 32 == 0)
            post_some(end, packet_chance());
        deliver_changed(&all, peer, PACKET_SOURCE);
        ibv_poll_cq(end->recv_cq, 16, wc);
        ibv_poll_cq(end->send_cq, 16, wc);
        if (state_of(end->qp) == IBV_QPS_ERR)
            connect_anew(end, peer.qpn, peer.lid);
        if (i % 64 == 0)
            forget_answers(peer);
    }
}

static void packets(void)
{
    packets_of(0);
}
static void unreliable_packets(void)
{
    packets_of(1);
}

static void reset(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    EQUAL(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* An end of an XRC connection, to a peer, anew; `more`: what its kind has of its own. */
static void connect_xrc(struct ibv_qp *qp, struct packet_peer peer, int more)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = peer.qpn,
                               .max_dest_rd_atomic = 4,
                               .min_rnr_timer = 1,
                               .ah_attr = {.dlid = peer.lid, .port_num = 1}};
    reset(qp);
    EQUAL(0, to_init_rc(qp, RIGHTS));
    EQUAL(0, ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | more));
    if (!more)
        EQUAL(0, to_rts_rc(qp, (struct pair_options){.rnr_retry = 1}, 0));
}

static void connect_target(struct receiver *b, struct packet_peer peer)
{
    connect_xrc(b->target, peer, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

/* Of two queues in turn, so that parts of a message name both, and a third that nobody has. */
static void collect_xrc(struct packets *all, const struct queue *queues, uint32_t second)
{
    build_packets(all, (struct packet_names){.address = (uintptr_t)queues[0].memory,
                                             .rkey = queues[0].mr->rkey,
                                             .queue = queues[0].number,
                                             .other_queue = second});
}

static void poll_queues(struct receiver *b)
{
    struct ibv_wc wc[16];
    for (int i = 0; i < QUEUES; i++)
        while (ibv_poll_cq(b->queues[i].cq, 16, wc) > 0)
            ;
}

static void to_target(struct packets *all, struct receiver *b, struct packet_peer peer)
{
    struct ibv_sge sge;
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    struct queue *q = &b->queues[packet_chance() % QUEUES];
    sge = (struct ibv_sge){(uintptr_t)q->memory, packet_chance() % 4096, q->mr->lkey};
    if (packet_chance() % 8 == 0)
        ibv_post_srq_recv(q->srq, &wr, &bad); /* refused when it is full */
    deliver_changed(all, peer, PACKET_SOURCE);
    poll_queues(b);
    if (state_of(b->target) == IBV_QPS_ERR)
        connect_target(b, peer);
}

static void to_initiator(struct packets *all, struct end *a, struct queue *q, struct packet_peer peer)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                                 IBV_WR_ATOMIC_FETCH_AND_ADD};
    enum ibv_wr_opcode opcode = opcodes[packet_chance() % 4];
    struct ibv_sge sge = sge_at(a, 0, opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : packet_chance() % 4096);
    struct ibv_send_wr wr = request(q, opcode, 1, &sge), *bad;
    struct ibv_wc wc[16];
    if (packet_chance() % 8 == 0)
        ibv_post_send(a->qp, &wr, &bad); /* refused when its queue is full */
    deliver_changed(all, peer, PACKET_SOURCE);
    while (ibv_poll_cq(a->send_cq, 16, wc) > 0)
        ;
    if (state_of(a->qp) == IBV_QPS_ERR)
        connect_xrc(a->qp, peer, 0);
}

static void xrc_packets(void)
{
    static struct packets all;
    struct end a = make_initiator(16);
    struct receiver b = make_receiver();
    struct packet_peer of_target = packet_peer(own_lid(b.context)), of_initiator = packet_peer(of_target.lid);
    of_target.own = b.target->qp_num;
    of_initiator.own = a.qp->qp_num;
    collect_xrc(&all, b.queues, packet_chance() % 2 ? b.queues[1].number : 0xffffff);
    connect_target(&b, of_target);
    connect_xrc(a.qp, of_initiator, 0);
    for (long i = number("FABRIC_COUNT", COUNT); i; i--) {
        to_target(&all, &b, of_target);
        if (i % 4 == 0)
            to_initiator(&all, &a, &b.queues[0], of_initiator);
        if (i % 64 == 0) {
            forget_answers(of_target);
            forget_answers(of_initiator);
        }
    }
}

/* Between hosts, where packets have tags, those that are built here have none: nothing comes of them. */
static int are_refused(struct receiver *b)
{
    if (!getenv("UDCKPT_SOFT_TAGS"))
        return 0;
    CHECK(stays_empty(b->queues[0].cq) && stays_empty(b->queues[1].cq));
    EQUAL(IBV_QPS_RTR, state_of(b->target));
    return 1;
}

/* The receive of the message that has begun is flushed, to its own queue, and the target is in error. */
static void amid(uint32_t second)
{
    static struct packets all;
    struct receiver b = make_receiver();
    struct packet_peer peer = packet_peer(own_lid(b.context));
    struct queue *q = &b.queues[0];
    struct ibv_wc wc;
    peer.own = b.target->qp_num;
    connect_target(&b, peer);
    all.count = 0;
    collect_xrc(&all, b.queues, second ? second : b.queues[1].number);
    receive(q, 1);
    receive(q, 2);
    receive(&b.queues[1], 1);
    deliver_packet(&all, FIRST_PART, peer, 0);
    deliver_packet(&all, OF_OTHER_QUEUE + FIRST_PART + 1, peer, 1);
    if (are_refused(&b))
        return;
    EQUAL(1, await_wc(q->cq, 1, &wc));
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc.status);
    EQUAL(1, wc.wr_id);
    EQUAL(IBV_QPS_ERR, state_of(b.target));
    CHECK(stays_empty(q->cq) && stays_empty(b.queues[1].cq));
}

static void xrc_unknown_queue_amid(void)
{
    amid(0xffffff);
}

static void xrc_other_queue_amid(void)
{
    amid(0);
}

/* What was for another queue, and comes again amid a message, changes nothing of that. */
static void xrc_again_amid(void)
{
    static struct packets all;
    struct receiver b = make_receiver();
    struct packet_peer peer = packet_peer(own_lid(b.context));
    struct ibv_wc wc;
    peer.own = b.target->qp_num;
    connect_target(&b, peer);
    collect_xrc(&all, b.queues, b.queues[1].number);
    for (int i = 0; i < QUEUES; i++)
        receive(&b.queues[i], 1);
    deliver_packet(&all, OF_OTHER_QUEUE, peer, 0);
    if (are_refused(&b))
        return;
    EQUAL(1, await_wc(b.queues[1].cq, 1, &wc));
    deliver_packet(&all, FIRST_PART, peer, 1);
    deliver_packet(&all, OF_OTHER_QUEUE, peer, 0);
    deliver_packet(&all, FIRST_PART + 2, peer, 2);
    EQUAL(1, await_wc(b.queues[0].cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(2 * PART, wc.byte_len);
    CHECK(stays_empty(b.queues[1].cq));
}

int main(int argc, char **argv)
{
    packet_seed((uint64_t)number("FABRIC_SEED", 1));
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"datagrams", datagrams},
                                            {"packets", packets},
                                            {"unreliable-packets", unreliable_packets},
                                            {"xrc-packets", xrc_packets},
                                            {"xrc-unknown-queue-amid", xrc_unknown_queue_amid},
                                            {"xrc-other-queue-amid", xrc_other_queue_amid},
                                            {"xrc-again-amid", xrc_again_amid},
                                            {0}});
}
