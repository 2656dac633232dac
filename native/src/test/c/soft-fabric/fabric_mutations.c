/* Real datagrams and packets of the fabric, recorded at a socket in the place of a peer and sent back with changes by
 * chance, into a queue pair that has receives posted and requests under way. Nothing is asked but that the device
 * stands it, watched by a sanitizer. FABRIC_SEED and FABRIC_COUNT: which changes, and how many (20,000). */
#include "fabric_connect.h"
#include <arpa/inet.h>
#include <sys/socket.h>

enum { RECORDED = 64, LONGEST = 4400, COUNT = 20000, OTHER = 3000 };

static struct {
    size_t length;
    uint8_t bytes[LONGEST];
} recorded[RECORDED];
static int count;
static uint64_t state;

static uint32_t chance(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static struct sockaddr_in address(uint16_t lid, uint32_t qpn)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)qpn),
                                .sin_addr.s_addr = htonl(127u << 24 | 77u << 16 | lid)};
}

/* A socket where a queue pair could be; *qpn: its number. */
static int peer_socket(uint16_t lid, uint32_t *qpn)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in at;
    *qpn = OTHER;
    do {
        at = address(lid, ++*qpn);
    } while (bind(fd, (struct sockaddr *)&at, sizeof at));
    return fd;
}

static void record(int fd)
{
    ssize_t got;
    while (count < RECORDED && (got = recv(fd, recorded[count].bytes, LONGEST, 0)) > 0)
        recorded[count++].length = (size_t)got;
}

static void put_word(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, sizeof value);
}

/* The header's second word is where it goes, the word at `source` where it comes from: so it gets through. */
static size_t mutate(uint8_t *bytes, size_t source, uint32_t own, uint32_t peer)
{
    int which = (int)(chance() % (unsigned)count);
    size_t length = recorded[which].length;
    memcpy(bytes, recorded[which].bytes, length);
    for (uint32_t changes = chance() % 8; changes; changes--) {
        size_t at = chance() % (chance() % 2 ? 64 : length);
        at = at < length ? at : 0;
        bytes[at] = (uint8_t)(chance() % 3 ? bytes[at] ^ 1u << chance() % 8 : chance());
    }
    if (chance() % 4 == 0)
        length = chance() % (length + 1);
    else if (chance() % 16 == 0)
        length += chance() % (LONGEST - length);
    memcpy(bytes, recorded[which].bytes, length < 4 ? length : 4); /* its magic */
    if (length >= source + 4) {
        put_word(bytes + 4, own);
        put_word(bytes + source, peer);
    }
    return length;
}

static void deliver(int fd, uint16_t lid, uint32_t own, size_t source, uint32_t peer)
{
    uint8_t bytes[LONGEST];
    struct sockaddr_in to = address(lid, own);
    size_t length = mutate(bytes, source, own, peer);
    CHECK(sendto(fd, bytes, length, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)length);
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
    struct end end = make_end((struct end_options){0});
    struct end other = make_end((struct end_options){.share = &end});
    uint16_t lid = own_lid(end.context);
    uint32_t peer;
    int fd = peer_socket(lid, &peer);
    for (size_t i = 0; i < 32; i++)
        CHECK(!post_recv(&end, i << 10, (uint32_t)(i & 15) * 300));
    /* What the other one sends to the peer's number is what is recorded. */
    for (uint32_t i = 0; i < RECORDED; i++) {
        struct ibv_sge sge = sge_at(&other, 0x40000, i < 60 ? i * 70 : 4096);
        struct ibv_send_wr wr = send_wr(&other, &sge, i % 2 ? IBV_SEND_SOLICITED : 0), *bad;
        wr.wr.ud.remote_qpn = peer;
        wr.opcode = i % 3 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
        EQUAL(0, ibv_post_send(other.qp, &wr, &bad));
        record(fd);
    }
    CHECK(count > 30);
    for (long i = number("FABRIC_COUNT", COUNT); i; i--) {
        deliver(fd, lid, end.qp->qp_num, 12, peer);
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

static void request(struct end *end, uint32_t i)
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

static void packets_of(int unreliable)
{
    struct end_pair pair = make_pair((struct pair_options){.not_connected = 1, .unreliable = unreliable});
    struct end *end = &pair.a;
    uint16_t lid = own_lid(end->context);
    uint32_t peer;
    int fd = peer_socket(lid, &peer);
    connect_anew(end, peer, lid);
    for (uint32_t i = 0; count < RECORDED / 2 && i < 1000; i++) {
        struct ibv_wc wc[16];
        request(end, i);
        usleep(1000);
        record(fd);
        ibv_poll_cq(end->send_cq, 16, wc);
    }
    CHECK(count > 4);
    for (long i = number("FABRIC_COUNT", COUNT); i; i--) {
        struct ibv_wc wc[16];
        if (chance() % 8 == 0)
            post_recv(end, (chance() & 15) << 10, 900);
        if (chance() % 32 == 0)
            request(end, chance());
        deliver(fd, lid, end->qp->qp_num, 8, peer);
        ibv_poll_cq(end->recv_cq, 16, wc);
        ibv_poll_cq(end->send_cq, 16, wc);
        if (state_of(end->qp) == IBV_QPS_ERR)
            connect_anew(end, peer, lid);
        if (i % 64 == 0)
            while (recv(fd, wc, sizeof wc, MSG_DONTWAIT | MSG_TRUNC) >= 0)
                ;
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

int main(int argc, char **argv)
{
    state = (uint64_t)number("FABRIC_SEED", 1);
    return run_cases(
        argc, argv,
        (struct fabric_case[]){
            {"datagrams", datagrams}, {"packets", packets}, {"unreliable-packets", unreliable_packets}, {0}});
}
