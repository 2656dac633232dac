/* cm_exits PORT: rank 0 accepts a connection and exits, with no word to the other side; rank 1 must be told of it.
 * Before that rank 1 is refused many times at the next port, where nobody ever listens. */
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_WITHIN_MS = 60000, CONNECTS = 600, PAUSE_US = 100000, REFUSALS = 100 };
enum { NOBODY_LISTENS = 8 }; /* the reason of a refusal: InfiniBand specification volume 1, 12.6.7.2 */

static void fail(const char *what)
{
    printf("FAIL %s\n", what);
    exit(1);
}

static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **of)
{
    struct pollfd readable = {.fd = channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    if (poll(&readable, 1, TOLD_WITHIN_MS) != 1 || rdma_get_cm_event(channel, &event) || event->event != wanted)
        fail(rdma_event_str(wanted));
    if (of)
        *of = event->id;
    rdma_ack_cm_event(event);
}

static void make_queue_pair(struct rdma_cm_id *id)
{
    struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!cq || rdma_create_qp(id, NULL, &attr))
        fail("rdma_create_qp");
}

static void serve(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    struct rdma_cm_id *listener, *id;
    if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) || rdma_bind_addr(listener, (struct sockaddr *)address) ||
        rdma_listen(listener, 1))
        fail("rdma_listen");
    expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id);
    make_queue_pair(id);
    if (rdma_accept(id, NULL))
        fail("rdma_accept");
    expect(channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
    puts("PASS server");
}

/* 0: rejected, as nobody listens yet. */
static int try_connecting(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    struct rdma_cm_id *id;
    struct rdma_cm_event *event;
    if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
        rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 2000))
        fail("rdma_resolve_addr");
    expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    if (rdma_resolve_route(id, 2000))
        fail("rdma_resolve_route");
    expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    make_queue_pair(id);
    if (rdma_connect(id, NULL) || rdma_get_cm_event(channel, &event))
        fail("rdma_connect");
    int established = event->event == RDMA_CM_EVENT_ESTABLISHED;
    if (!established && (event->event != RDMA_CM_EVENT_REJECTED || event->status != NOBODY_LISTENS))
        fail(rdma_event_str(event->event));
    rdma_ack_cm_event(event);
    if (!established) {
        rdma_destroy_qp(id);
        rdma_destroy_id(id);
    }
    return established;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    struct rdma_event_channel *channel = rdma_create_event_channel();
    if (argc != 2 || !rank || !channel)
        fail("usage: cm_exits PORT, as a rank of a job");
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (!strcmp(rank, "0")) {
        serve(channel, &address);
        return 0;
    }
    struct sockaddr_in nobody = address;
    nobody.sin_port = htons((uint16_t)(atoi(argv[1]) + 1));
    for (int i = 0; i < REFUSALS; i++) /* each of them would wait, if any did */
        if (try_connecting(channel, &nobody))
            fail("a connection to nobody");
    int tries = 0;
    while (!try_connecting(channel, &address)) {
        if (++tries == CONNECTS)
            fail("nobody listens");
        usleep(PAUSE_US);
    }
    expect(channel, RDMA_CM_EVENT_DISCONNECTED, NULL);
    puts("PASS client");
    return 0;
}
