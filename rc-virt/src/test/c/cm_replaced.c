/* A listener that is replaced is no missing one. cm_replaced PORT: in each round rank 0 listens over tcp, rejects rank
 * 1's request, and only then listens over udp at the same port: for a moment, not for another one, then until it is
 * asked. Rank 1, once rejected, asks over udp at once and must be answered, never rejected. A request that got lost
 * (UDCKPT_SOFT_LOSS) comes again while nobody listens. "PASS server" and "PASS client". */
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 10, QPN = 0x4711 };
enum { FIRST_GAP_US = 50000, MOMENT_MS = 30, SECOND_GAP_US = 200000, TIMEOUT_MS = 60000, FAREWELL_MS = 10000 };
/* reasons of a refusal: InfiniBand specification volume 1, 12.6.7.2 */
enum { BY_THE_PROGRAM = 28, NOBODY_LISTENS = 8 };

static struct rdma_event_channel *channel;

static void fail(const char *what)
{
    printf("FAIL %s\n", what);
    exit(1);
}

/* Its id and its status; 0 when nothing came in time. */
static int event_within(int wait_ms, enum rdma_cm_event_type wanted, struct rdma_cm_id **id, int *status)
{
    struct pollfd readable = {.fd = channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    if (poll(&readable, 1, wait_ms) != 1)
        return 0;
    if (rdma_get_cm_event(channel, &event) || event->event != wanted) {
        printf("FAIL %s, status %d, instead of %s\n", rdma_event_str(event->event), event->status,
               rdma_event_str(wanted));
        exit(1);
    }
    *id = event->id;
    *status = event->status;
    rdma_ack_cm_event(event);
    return 1;
}

static int expect(enum rdma_cm_event_type wanted, struct rdma_cm_id **id)
{
    int status;
    if (!event_within(TIMEOUT_MS, wanted, id, &status))
        fail(rdma_event_str(wanted));
    return status;
}

static struct rdma_cm_id *listen_at(enum rdma_port_space space, struct sockaddr_in *address)
{
    struct rdma_cm_id *listener;
    if (rdma_create_id(channel, &listener, NULL, space) || rdma_bind_addr(listener, (struct sockaddr *)address) ||
        rdma_listen(listener, 1))
        fail("rdma_listen");
    return listener;
}

static int accept_one(struct sockaddr_in *address, int wait_ms, struct rdma_cm_id **accepted)
{
    struct rdma_cm_id *listener = listen_at(RDMA_PS_UDP, address);
    struct rdma_conn_param parameters = {.qp_num = QPN};
    int status, asked = event_within(wait_ms, RDMA_CM_EVENT_CONNECT_REQUEST, accepted, &status);
    if (asked && rdma_accept(*accepted, &parameters))
        fail("rdma_accept");
    rdma_destroy_id(listener);
    return asked;
}

/* The ids of a round stay until the next one has begun: they answer requests that come again. */
static void serve(struct sockaddr_in *address)
{
    struct rdma_cm_id *rejected = NULL, *accepted = NULL, *id;
    for (int round = 0; round < ROUNDS; round++) {
        struct rdma_cm_id *listener = listen_at(RDMA_PS_TCP, address);
        expect(RDMA_CM_EVENT_CONNECT_REQUEST, &id);
        if (round && (rdma_destroy_id(rejected) || rdma_destroy_id(accepted)))
            fail("rdma_destroy_id");
        rejected = id;
        if (rdma_destroy_id(listener) || rdma_reject(rejected, NULL, 0))
            fail("rdma_reject");
        usleep(FIRST_GAP_US);
        if (!accept_one(address, MOMENT_MS, &accepted)) {
            usleep(SECOND_GAP_US);
            if (!accept_one(address, TIMEOUT_MS, &accepted))
                fail("no request over udp");
        }
    }
    listen_at(RDMA_PS_TCP, address);
    expect(RDMA_CM_EVENT_CONNECT_REQUEST, &id); /* rank 1 has had its last answer */
    rdma_reject(id, NULL, 0);
    puts("PASS server");
}

static struct rdma_cm_id *ask(enum rdma_port_space space, struct sockaddr_in *address)
{
    struct rdma_conn_param parameters = {.qp_num = QPN};
    struct rdma_cm_id *id;
    if (rdma_create_id(channel, &id, NULL, space) || rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 2000))
        fail("rdma_resolve_addr");
    expect(RDMA_CM_EVENT_ADDR_RESOLVED, &id);
    if (rdma_resolve_route(id, 2000))
        fail("rdma_resolve_route");
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED, &id);
    if (rdma_connect(id, &parameters))
        fail("rdma_connect");
    return id;
}

static void call(struct sockaddr_in *address)
{
    struct rdma_cm_id *id;
    int status;
    for (int round = 0; round < ROUNDS;) {
        ask(RDMA_PS_TCP, address);
        status = expect(RDMA_CM_EVENT_REJECTED, &id);
        rdma_destroy_id(id);
        if (status != BY_THE_PROGRAM) { /* the round before is not over yet */
            if (status != NOBODY_LISTENS)
                fail("another reason");
            usleep(10000);
            continue;
        }
        ask(RDMA_PS_UDP, address);
        expect(RDMA_CM_EVENT_ESTABLISHED, &id);
        rdma_destroy_id(id);
        round++;
    }
    ask(RDMA_PS_TCP, address);
    event_within(FAREWELL_MS, RDMA_CM_EVENT_REJECTED, &id, &status); /* or not, if it gets lost: rank 0 has ended */
    puts("PASS client");
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    if (argc != 2 || !rank || !(channel = rdma_create_event_channel()))
        fail("usage: cm_replaced PORT, as rank 0 or 1 of a job");
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(rank, "0"))
        call(&address);
    else
        serve(&address);
    return 0;
}
