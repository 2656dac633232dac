/* Datagrams to a UD queue pair, with its qkey and number, as any program that reaches the port can send them: header,
 * payload, and what is posted for it. */
/* links: libudckpt */
#include "fuzz_verbs.h"
#include "soft-fabric/soft_wire.h"

#ifndef TAGGED
#define TAGGED 0
#endif

enum { QKEY = 0x11111111, MEMORY = 16384, RECEIVES = 8 };

static struct {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct ibv_qp *qp;
    uint16_t lid;
    int peer;
    uint32_t peer_qpn;
} own;
static uint8_t memory[MEMORY];

static void prepare(void)
{
    if (TAGGED)
        setenv("UDCKPT_SOFT_TAGS", "test", 1);
    own.context = open_device();
    own.lid = lid_of(own.context);
    NEED(own.pd = ibv_alloc_pd(own.context));
    NEED(own.cq = ibv_create_cq(own.context, 64, NULL, NULL, 0));
    NEED(own.mr = ibv_reg_mr(own.pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE));
    struct ibv_qp_init_attr init = {
        .send_cq = own.cq, .recv_cq = own.cq, .qp_type = IBV_QPT_UD, .cap = {1, RECEIVES, 1, 4, 0}};
    NEED(own.qp = ibv_create_qp(own.pd, &init));
    own.peer = peer_socket(own.lid, &own.peer_qpn);
}

static void modify(enum ibv_qp_state state, int mask)
{
    struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1, .qkey = QKEY};
    NEED(!ibv_modify_qp(own.qp, &attr, IBV_QP_STATE | mask));
}

static void anew(void)
{
    struct ibv_wc wc[16];
    modify(IBV_QPS_RESET, 0);
    while (ibv_poll_cq(own.cq, 16, wc) > 0)
        ;
    modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    modify(IBV_QPS_RTR, 0);
}

/* Up to four pieces of memory, whose lengths the input says; the last bit: one that is not registered. */
static void post_receive(struct input *input)
{
    struct ibv_sge sge[4];
    int pieces = take_u8(input) % 5;
    for (int i = 0; i < pieces; i++) {
        uint16_t length = take_u16(input);
        sge[i] = (struct ibv_sge){(uintptr_t)memory + i * 4096u, length % 4097u,
                                  own.mr->lkey + (length >> 15 & length >> 14 & length >> 13 & 1)};
    }
    struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = sge, .num_sge = pieces}, *bad;
    ibv_post_recv(own.qp, &wr, &bad);
}

struct packet {
    struct soft_wire header;
    uint8_t payload[SOFT_MTU + 64 + sizeof(struct soft_tag)]; /* behind the tag, where there is one */
};

/* Moves the payload behind a tag, which is right unless the last bit says otherwise, with a counter that goes up,
 * stays, or comes again. Returns its bytes. */
static size_t tag(struct packet *packet, size_t length, uint8_t how)
{
    static uint64_t counter;
    struct soft_tag tag;
    uint8_t nonce[SOFT_MAC_NONCE];
    uint16_t number = htobe16((uint16_t)ntohl(packet->header.source_qpn));
    tag.counter = htobe64(how & 2 ? counter - (how >> 2) : (counter += how >> 2));
    memcpy(nonce, &packet->header.source_lid, 2);
    memcpy(nonce + 2, &number, 2);
    memcpy(nonce + 4, &tag.counter, 8);
    struct iovec pieces[2] = {{&packet->header, sizeof packet->header}, {packet->payload, length}};
    soft_mac(&soft_config()->key, nonce, pieces, sizeof packet->header + length, tag.mac);
    tag.mac[0] ^= how & 1;
    memmove(packet->payload + sizeof tag, packet->payload, length);
    memcpy(packet->payload, &tag, sizeof tag);
    return sizeof tag;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct ibv_wc wc[16];
    if (!own.context)
        prepare();
    anew();
    while (input.left) {
        post_receive(&input);
        struct packet packet;
        uint16_t length = take_u16(&input) % (SOFT_MTU + 65);
        take(&input, &packet.header, sizeof packet.header);
        packet.header.magic = htonl(TAGGED ? SOFT_WIRE_MAGIC_TAGGED : SOFT_WIRE_MAGIC);
        packet.header.destination_qpn = htonl(own.qp->qp_num);
        packet.header.qkey = htonl(QKEY);
        if (take_u8(&input) % 4) { /* what a sender says of itself when it does not lie */
            packet.header.source_qpn = htonl(own.peer_qpn);
            packet.header.source_lid = htons(own.lid);
        }
        memset(packet.payload, 0, sizeof packet.payload);
        take(&input, packet.payload, length < 64 ? length : 64);
        size_t bytes = sizeof packet.header + (TAGGED ? tag(&packet, length, take_u8(&input)) : 0) + length;
        send_packet(own.peer, own.lid, own.qp->qp_num, &packet, bytes);
        ibv_poll_cq(own.cq, 16, wc);
    }
    return 0;
}
