/* A process with endpoints at all ports of all its devices, and with one device opened twice, for PortsTest:
 *   open            -> address LID QPN GID LID QPN GID ...      one for each endpoint, as it sees itself
 *   address         -> the same again
 *   peer LID QPN GID -> peer N
 *   send SEED       -> sent N          from each endpoint to each peer, with a GRH
 *   receive N SEED  -> received N      all of them, each from a peer, to its own GID
 *   connection SEED -> connected       a message and a write over a reliable connection between two devices
 *   raise DEVICE TYPE PORT -> raised N                 by udckpt_soft_event(), in N contexts
 *   events          -> events CONTEXT:TYPE:PORT ...    all that there are, without waiting
 *   state ENDPOINT  -> state STATE                     as the device says it
 *   flushed ENDPOINT -> flushed N                      receives that come back with an error
 *   overflow        -> overflowed                      a send queue's completions, of which there is room for four
 *   lost            -> lost STATE POLLED FLUSHED       of that queue pair: its state, what could be polled until an
 *   error, its receives
 *   close FD...     -> closed */
#include "fabric.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>

enum { OWN_MAX = 16, PEERS_MAX = 64, SLOT = 256, SLOTS = 64 };

struct endpoint {
    struct ibv_context *context;
    int port;
    uint16_t lid;
    union ibv_gid gid;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct ibv_qp *qp;
    struct ibv_ah *ahs[PEERS_MAX];
    char *memory;
};

static struct peer {
    unsigned lid, qpn;
    union ibv_gid gid;
} peers[PEERS_MAX];
static struct endpoint own[OWN_MAX], connected[2];
static int owns, peer_count;

static struct ibv_context *open_number(int number)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list && list[number]);
    struct ibv_context *context = ibv_open_device(list[number]);
    CHECK(context);
    ibv_free_device_list(list);
    return context;
}

static void post(struct endpoint *at, uint64_t slot)
{
    struct ibv_sge sge = {(uintptr_t)at->memory + slot * SLOT, SLOT, at->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_recv(at->qp, &wr, &bad));
}

static void make(struct endpoint *at, struct ibv_context *context, int port, enum ibv_qp_type type)
{
    struct ibv_port_attr attr;
    at->context = context;
    at->port = port;
    EQUAL(0, ibv_query_port(context, (uint8_t)port, &attr));
    at->lid = attr.lid;
    EQUAL(0, ibv_query_gid(context, (uint8_t)port, 0, &at->gid));
    CHECK(at->memory = calloc(SLOTS + 1, SLOT));
    CHECK(at->pd = ibv_alloc_pd(context));
    CHECK(at->cq = ibv_create_cq(context, 4 * SLOTS, NULL, NULL, 0));
    CHECK(at->mr =
              ibv_reg_mr(at->pd, at->memory, (SLOTS + 1) * SLOT, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    struct ibv_qp_init_attr init = {
        .send_cq = at->cq, .recv_cq = at->cq, .qp_type = type, .cap = {SLOTS, SLOTS, 1, 1, 0}};
    CHECK(at->qp = ibv_create_qp(at->pd, &init));
    if (type != IBV_QPT_UD)
        return;
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)port, .qkey = QKEY};
    EQUAL(0, ibv_modify_qp(at->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    for (uint64_t slot = 0; slot < SLOTS; slot++)
        post(at, slot);
    EQUAL(0, to_rtr(at->qp));
    EQUAL(0, to_rts(at->qp));
}

static void connect_to(struct endpoint *at, const struct endpoint *peer)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = (uint8_t)at->port, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    EQUAL(0, ibv_modify_qp(at->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = peer->qp->qp_num,
                                .min_rnr_timer = 12,
                                .ah_attr = {.dlid = peer->lid, .port_num = (uint8_t)at->port}};
    EQUAL(0, ibv_modify_qp(at->qp, &attr,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
    EQUAL(0, ibv_modify_qp(at->qp, &attr,
                           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_MAX_QP_RD_ATOMIC));
}

static void open_all(void)
{
    int devices;
    struct ibv_device **list = ibv_get_device_list(&devices);
    CHECK(list);
    ibv_free_device_list(list);
    for (int d = 0; d < devices; d++) {
        struct ibv_context *context = open_number(d);
        struct ibv_device_attr attr;
        EQUAL(0, ibv_query_device(context, &attr));
        for (int port = 1; port <= attr.phys_port_cnt; port++)
            make(&own[owns++], context, port, IBV_QPT_UD);
    }
    make(&own[owns++], open_number(0), 2, IBV_QPT_UD);
    make(&connected[0], own[0].context, 2, IBV_QPT_RC);
    make(&connected[1], own[owns - 2].context, 1, IBV_QPT_RC);
    connect_to(&connected[0], &connected[1]);
    connect_to(&connected[1], &connected[0]);
}

/* As the device says it now, not as it was when it was opened. */
static void print_addresses(void)
{
    printf("address");
    for (int i = 0; i < owns; i++) {
        char gid[INET6_ADDRSTRLEN];
        struct ibv_port_attr port;
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        union ibv_gid now;
        EQUAL(0, ibv_query_port(own[i].context, (uint8_t)own[i].port, &port));
        EQUAL(0, ibv_query_gid(own[i].context, (uint8_t)own[i].port, 0, &now));
        EQUAL(0, ibv_query_qp(own[i].qp, &attr, IBV_QP_PORT, &init));
        EQUAL(own[i].port, attr.port_num);
        printf(" %u %u %s", port.lid, own[i].qp->qp_num, inet_ntop(AF_INET6, &now, gid, sizeof gid));
    }
    putchar('\n');
}

static struct ibv_ah *way(struct endpoint *from, int peer)
{
    if (!from->ahs[peer]) {
        struct ibv_ah_attr attr = {.dlid = (uint16_t)peers[peer].lid,
                                   .port_num = (uint8_t)from->port,
                                   .is_global = 1,
                                   .grh.dgid = peers[peer].gid};
        CHECK(from->ahs[peer] = ibv_create_ah(from->pd, &attr));
    }
    return from->ahs[peer];
}

static void complete_send(struct endpoint *from, uint64_t wr_id)
{
    struct ibv_wc wc;
    EQUAL(1, poll_for(from->cq, 1, &wc));
    EQUAL(wr_id, wc.wr_id);
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

/* An endpoint's sends and receives share a queue: its own sends come first, as nobody has sent to it yet. */
static int send_all(unsigned seed)
{
    int sent = 0;
    for (int i = 0; i < owns; i++)
        for (int p = 0; p < peer_count; p++, sent++) {
            struct endpoint *from = &own[i];
            char *text = from->memory + SLOTS * SLOT;
            fill(text, 100, seed);
            struct ibv_sge sge = {(uintptr_t)text, 100, from->mr->lkey};
            struct ibv_send_wr wr = {.wr_id = 999,
                                     .sg_list = &sge,
                                     .num_sge = 1,
                                     .opcode = IBV_WR_SEND,
                                     .wr.ud = {.ah = way(from, p), .remote_qpn = peers[p].qpn, .remote_qkey = QKEY}},
                               *bad;
            EQUAL(0, ibv_post_send(from->qp, &wr, &bad));
        }
    return sent;
}

static void check(struct endpoint *to, const struct ibv_wc *wc, unsigned seed)
{
    const char *at = to->memory + wc->wr_id * SLOT;
    const struct ibv_grh *grh = (const struct ibv_grh *)at;
    int found = 0;
    EQUAL(IBV_WC_SUCCESS, wc->status);
    EQUAL(IBV_WC_RECV, wc->opcode);
    EQUAL(to->qp->qp_num, wc->qp_num);
    CHECK(wc->wc_flags & IBV_WC_GRH);
    CHECK(!memcmp(&grh->dgid, &to->gid, sizeof to->gid));
    CHECK(is_filled(at + GRH, 100, seed));
    for (int p = 0; p < peer_count; p++)
        found += peers[p].lid == wc->slid && peers[p].qpn == wc->src_qp &&
                 !memcmp(&peers[p].gid, &grh->sgid, sizeof grh->sgid);
    EQUAL(1, found);
}

static void receive_all(int expected, unsigned seed)
{
    struct ibv_wc wc;
    for (int i = 0; i < owns; i++)
        for (int n = 0; n < expected / owns; n++) {
            EQUAL(1, poll_for(own[i].cq, 1, &wc));
            check(&own[i], &wc, seed);
            post(&own[i], wc.wr_id);
        }
    printf("received %d\n", expected);
}

static void use_connection(unsigned seed)
{
    struct endpoint *from = &connected[0], *to = &connected[1];
    struct ibv_sge sge = {(uintptr_t)from->memory + SLOTS * SLOT, 100, from->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 5,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    struct ibv_wc wc;
    fill(from->memory + SLOTS * SLOT, 100, seed);
    post(to, 0);
    EQUAL(0, ibv_post_send(from->qp, &wr, &bad));
    EQUAL(1, poll_for(to->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    CHECK(is_filled(to->memory, 100, seed));
    complete_send(from, 5);
    fill(from->memory + SLOTS * SLOT, 100, seed + 1);
    wr.opcode = IBV_WR_RDMA_WRITE; /* two devices may count their keys alike */
    wr.wr.rdma.remote_addr = (uintptr_t)to->memory;
    wr.wr.rdma.rkey = to->mr->rkey;
    EQUAL(0, ibv_post_send(from->qp, &wr, &bad));
    complete_send(from, 5);
    CHECK(is_filled(to->memory, 100, seed + 1));
    puts("connected");
}

static void add_peer(const char *line)
{
    struct peer *peer = &peers[peer_count++];
    char gid[INET6_ADDRSTRLEN];
    EQUAL(3, sscanf(line, "peer %u %u %45s", &peer->lid, &peer->qpn, gid));
    EQUAL(1, inet_pton(AF_INET6, gid, &peer->gid));
    printf("peer %d\n", peer_count);
}

static void close_all(char *line)
{
    for (char *word = strtok(line + 5, " \n"); word; word = strtok(NULL, " \n"))
        EQUAL(0, syscall(SYS_close,
                         atoi(word))); /* as at a restore, where they are not there and nobody has closed them */
    puts("closed");
}

static struct {
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_qp *qp;
} over;

static void overflow(void)
{
    enum { ROOM = 4, SENDS = 12 };
    struct endpoint *at = &own[0];
    CHECK(over.send_cq = ibv_create_cq(at->context, ROOM, NULL, NULL, 0));
    CHECK(over.receive_cq = ibv_create_cq(at->context, SLOTS, NULL, NULL, 0));
    struct ibv_qp_init_attr init = {.send_cq = over.send_cq,
                                    .recv_cq = over.receive_cq,
                                    .qp_type = IBV_QPT_UD,
                                    .cap = {16, 16, 1, 1, 0},
                                    .sq_sig_all = 1};
    struct ibv_ah_attr self = {.dlid = at->lid, .port_num = 1};
    struct ibv_ah *ah = ibv_create_ah(at->pd, &self);
    struct ibv_recv_wr receive = {.wr_id = 3}, *bad_receive;
    CHECK(ah);
    CHECK(over.qp = ibv_create_qp(at->pd, &init));
    EQUAL(0, to_init(over.qp, QKEY));
    EQUAL(0, ibv_post_recv(over.qp, &receive, &bad_receive));
    EQUAL(0, to_rtr(over.qp));
    EQUAL(0, to_rts(over.qp));
    for (int i = 0; i < SENDS; i++) {
        struct ibv_send_wr wr = {.wr_id = (uint64_t)i,
                                 .opcode = IBV_WR_SEND,
                                 .wr.ud = {.ah = ah, .remote_qpn = 0xfffffd, .remote_qkey = QKEY}},
                           *bad;
        EQUAL(0, ibv_post_send(over.qp, &wr, &bad));
    }
    puts("overflowed");
}

static void print_lost(void)
{
    struct ibv_wc wc;
    int polled = 0, flushed = 0, got;
    while ((got = ibv_poll_cq(over.send_cq, 1, &wc)) == 1) {
        EQUAL(polled, wc.wr_id);
        EQUAL(IBV_WC_SUCCESS, wc.status);
        polled++;
    }
    EQUAL(-1, got);
    EQUAL(-1, ibv_poll_cq(over.send_cq, 1, &wc));
    while (ibv_poll_cq(over.receive_cq, 1, &wc) == 1) {
        EQUAL(IBV_WC_WR_FLUSH_ERR, wc.status);
        EQUAL(3, wc.wr_id);
        flushed++;
    }
    printf("lost %d %d %d\n", state_of(over.qp), polled, flushed);
}

static int raise_event(const char *device, int type, unsigned port)
{
    int (*event)(const char *, enum ibv_event_type, unsigned) = dlsym(RTLD_DEFAULT, "udckpt_soft_event");
    CHECK(event);
    return event(device, (enum ibv_event_type)type, port);
}

/* Contexts are told apart by the first endpoint that each has. */
static void print_events(void)
{
    printf("events");
    for (int i = 0; i < owns; i++) {
        struct ibv_context *context = own[i].context;
        struct pollfd fd = {.fd = context->async_fd, .events = POLLIN};
        struct ibv_async_event event;
        if (i && own[i - 1].context == context)
            continue;
        while (poll(&fd, 1, 0) == 1) {
            EQUAL(0, ibv_get_async_event(context, &event));
            printf(" %d:%d:%d", i, event.event_type,
                   event.event_type == IBV_EVENT_DEVICE_FATAL ? 0
                   : event.event_type == IBV_EVENT_CQ_ERR     ? event.element.cq == over.send_cq
                                                              : event.element.port_num);
            ibv_ack_async_event(&event);
        }
    }
    putchar('\n');
}

static int count_flushed(struct endpoint *at)
{
    struct ibv_wc wc;
    int count = 0;
    while (ibv_poll_cq(at->cq, 1, &wc) == 1) {
        EQUAL(IBV_WC_WR_FLUSH_ERR, wc.status);
        count++;
    }
    return count;
}

int main(void)
{
    static char line[65536];
    char name[64];
    int count;
    unsigned seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "open\n"))
            open_all();
        if (!strcmp(line, "open\n") || !strcmp(line, "address\n"))
            print_addresses();
        else if (!strncmp(line, "peer ", 5))
            add_peer(line);
        else if (sscanf(line, "send %u", &seed) == 1)
            printf("sent %d\n", send_all(seed));
        else if (sscanf(line, "receive %d %u", &count, &seed) == 2)
            receive_all(count, seed);
        else if (sscanf(line, "connection %u", &seed) == 1)
            use_connection(seed);
        else if (sscanf(line, "raise %63s %d %u", name, &count, &seed) == 3)
            printf("raised %d\n", raise_event(name, count, seed));
        else if (!strcmp(line, "events\n"))
            print_events();
        else if (sscanf(line, "state %u", &seed) == 1)
            printf("state %d\n", state_of(own[seed].qp));
        else if (!strcmp(line, "overflow\n"))
            overflow();
        else if (!strcmp(line, "lost\n"))
            print_lost();
        else if (sscanf(line, "flushed %u", &seed) == 1)
            printf("flushed %d\n", count_flushed(&own[seed]));
        else if (!strncmp(line, "close", 5))
            close_all(line);
    }
    return 0;
}
