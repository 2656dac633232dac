/* Packets to a connection, reliable, unreliable or an end of XRC, from its peer, while it has receives, sends, reads
 * and atomics of its own under way. Each step begins with a byte: 0 a packet, 1 a receive is posted, 2 a request is
 * posted, 3 the queues are polled. */
/* links: libudckpt */
#include "fuzz_verbs.h"
#include "soft-fabric/soft_rc_wire.h"
#include "soft-fabric/soft_wire.h"
#include <fcntl.h>

enum { MEMORY = 65536, DEPTH = 16 };
enum kind { RELIABLE, UNRELIABLE, XRC_TARGET, XRC_INITIATOR, KINDS };

static struct {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct ibv_qp *qp, *all[KINDS]; /* the one that this input is for */
    struct ibv_srq *srq;            /* of XRC: its target has two, for one completion queue */
    uint32_t queues[2];
    struct ibv_mw *window;
    uint16_t lid;
    int peer;
    uint32_t peer_qpn;
} own;
static _Alignas(8) uint8_t memory[MEMORY];

static struct ibv_srq *make_xrc_queue(struct ibv_xrcd *domain, uint32_t *number)
{
    struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = DEPTH, .max_sge = 2},
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = own.pd,
                                        .xrcd = domain,
                                        .cq = own.cq,
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
                                                     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ};
    struct ibv_srq *srq = ibv_create_srq_ex(own.context, &attr);
    NEED(srq);
    NEED(!ibv_get_srq_num(srq, number));
    return srq;
}

static void prepare_xrc(struct ibv_qp_init_attr init)
{
    struct ibv_xrcd_init_attr alone = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *domain = ibv_open_xrcd(own.context, &alone);
    NEED(domain);
    struct ibv_qp_init_attr_ex target = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};
    NEED(own.all[XRC_TARGET] = ibv_create_qp_ex(own.context, &target));
    own.srq = make_xrc_queue(domain, &own.queues[0]);
    make_xrc_queue(domain, &own.queues[1]);
    init.qp_type = IBV_QPT_XRC_SEND;
    init.recv_cq = NULL;
    init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
    NEED(own.all[XRC_INITIATOR] = ibv_create_qp(own.pd, &init));
}

static void prepare(void)
{
    own.context = open_device();
    own.lid = lid_of(own.context);
    NEED(own.pd = ibv_alloc_pd(own.context));
    NEED(own.cq = ibv_create_cq(own.context, 256, NULL, NULL, 0));
    NEED(own.mr = ibv_reg_mr(own.pd, memory, sizeof memory,
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND));
    NEED(own.window = ibv_alloc_mw(own.pd, IBV_MW_TYPE_2));
    struct ibv_qp_init_attr init = {
        .send_cq = own.cq, .recv_cq = own.cq, .qp_type = IBV_QPT_RC, .cap = {DEPTH, DEPTH, 2, 2, 16}};
    NEED(own.all[RELIABLE] = ibv_create_qp(own.pd, &init));
    init.qp_type = IBV_QPT_UC;
    NEED(own.all[UNRELIABLE] = ibv_create_qp(own.pd, &init));
    prepare_xrc(init);
    own.peer = peer_socket(own.lid, &own.peer_qpn);
}

static void poll_all(void)
{
    struct ibv_wc wc[16];
    while (ibv_poll_cq(own.cq, 16, wc) > 0)
        ;
}

/* A window through which a packet may come, or whose key one may take back. */
static void bind_window(void)
{
    NEED(!ibv_dealloc_mw(own.window)); /* what an earlier input had bound */
    NEED(own.window = ibv_alloc_mw(own.pd, IBV_MW_TYPE_2));
    struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
                             .send_flags = IBV_SEND_SIGNALED,
                             .bind_mw = {.mw = own.window,
                                         .rkey = ibv_inc_rkey(own.window->rkey),
                                         .bind_info = {own.mr, (uintptr_t)memory, 4096,
                                                       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ}}},
                       *bad;
    NEED(!ibv_post_send(own.qp, &wr, &bad));
    own.window->rkey = wr.bind_mw.rkey;
}

/* What a transition to each kind's states names beyond what all name. */
static const int answers[KINDS] = {[RELIABLE] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                                   [XRC_TARGET] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER};
static const int times[KINDS] = {
    [RELIABLE] = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
    [XRC_TARGET] = IBV_QP_TIMEOUT,
    [XRC_INITIATOR] = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC};

static void connect_as(enum kind kind, unsigned rights)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = rights};
    NEED(!ibv_modify_qp(own.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = own.peer_qpn,
                                .min_rnr_timer = 1,
                                .max_dest_rd_atomic = 4,
                                .ah_attr = {.dlid = own.lid, .port_num = 1}};
    NEED(!ibv_modify_qp(own.qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | answers[kind]));
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 1, .rnr_retry = 1, .max_rd_atomic = 4};
    NEED(!ibv_modify_qp(own.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | times[kind]));
}

/* `choice`: the rights, and which kind. */
static void connect_anew(uint8_t choice)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    static const enum kind xrc[4] = {RELIABLE, XRC_TARGET, XRC_INITIATOR, RELIABLE};
    enum kind kind = choice >> 4 & 1 ? UNRELIABLE : xrc[choice >> 6];
    own.qp = own.all[kind];
    NEED(!ibv_modify_qp(own.qp, &attr, IBV_QP_STATE));
    poll_all();
    drop_answers(own.peer);
    connect_as(kind, choice & 15u);
    if (choice >> 5 & 1 && kind <= UNRELIABLE)
        bind_window();
}

static struct ibv_sge somewhere(struct input *input)
{
    uint16_t offset = take_u16(input), length = take_u16(input) % 8192;
    if (offset + length > MEMORY)
        offset = 0;
    return (struct ibv_sge){(uintptr_t)memory + offset, length, own.mr->lkey};
}

static void post_receive(struct input *input)
{
    struct ibv_sge sge[2] = {somewhere(input), somewhere(input)};
    struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = sge, .num_sge = 2}, *bad;
    if (own.qp == own.all[XRC_TARGET])
        ibv_post_srq_recv(own.srq, &wr, &bad);
    else
        ibv_post_recv(own.qp, &wr, &bad);
}

static void post_request(struct input *input)
{
    static const enum ibv_wr_opcode opcodes[] = {
        IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM,      IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_WRITE_WITH_IMM,
        IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD};
    struct ibv_sge sge = somewhere(input);
    struct ibv_send_wr wr = {.wr_id = 9,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcodes[take_u8(input) % 7],
                             .send_flags = IBV_SEND_SIGNALED,
                             .qp_type.xrc.remote_srqn = 1},
                       *bad;
    if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
        sge.length = 8;
        wr.wr.atomic.remote_addr = (uintptr_t)memory;
        wr.wr.atomic.rkey = own.mr->rkey;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)memory;
        wr.wr.rdma.rkey = own.mr->rkey;
    }
    ibv_post_send(own.qp, &wr, &bad);
}

static void packet(struct input *input)
{
    struct {
        struct soft_rc_wire header;
        uint8_t payload[SOFT_MTU + 64];
    } packet;
    uint16_t length = take_u16(input) % (sizeof packet.payload + 1);
    uint8_t aim = take_u8(input);
    take(input, &packet.header.opcode, sizeof packet.header - offsetof(struct soft_rc_wire, opcode));
    packet.header.magic = htonl(SOFT_RC_MAGIC);
    packet.header.destination_qpn = htonl(own.qp->qp_num);
    packet.header.source_qpn = htonl(own.peer_qpn);
    packet.header.source_lid = htons(own.lid);
    if (aim & 1) /* else what it says itself */
        packet.header.psn = htonl(aim >> 4);
    if (aim & 2) {
        packet.header.rkey = htonl(aim & 4 ? own.window->rkey : own.mr->rkey);
        if (aim & 4)
            packet.header.immediate = own.window->rkey;
        packet.header.address = htobe64((uintptr_t)memory + (be64toh(packet.header.address) & 0x1ffff));
    }
    take(input, packet.payload, length < 32 ? length : 32);
    if (own.qp == own.all[XRC_TARGET] && aim & 8) /* else of a queue that it names itself */
        memcpy(packet.payload, &(uint32_t){htonl(own.queues[aim >> 4 & 1])}, sizeof(uint32_t));
    send_packet(own.peer, own.lid, own.qp->qp_num, &packet, sizeof packet.header + length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    if (!own.context)
        prepare();
    connect_anew(take_u8(&input));
    while (input.left) {
        switch (take_u8(&input) % 4) {
        case 0:
            packet(&input);
            break;
        case 1:
            post_receive(&input);
            break;
        case 2:
            post_request(&input);
            break;
        default:
            poll_all();
        }
    }
    poll_all();
    return 0;
}
