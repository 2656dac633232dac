/* Connections made and ended, round after round, by rdma_cm between two processes of a job. cm_rounds tcp|udp PORT
 * FINISH-FILE: PMI_RANK 0 listens, the others connect. Each round's number goes there and back as private data; over
 * tcp (RC) a word is written into the listener's memory as well. "round N" every 20 rounds on the connecting side;
 * "PASS N" at the end; a message and exit code 1 otherwise. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) \
    do { \
        if (call) { \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, strerror(errno)); \
            exit(1); \
        } \
    } while (0)

enum {
    NOBODY_LISTENS = 8,
    NO_SERVICE = 1
}; /* the reason of a refusal: InfiniBand specification volume 1, 12.6.7.2; the status of a SIDR_REP: 12.11 */

struct note {
    uint32_t round, rkey;
    uint64_t address;
};

static struct rdma_event_channel *channel;
static enum rdma_port_space space;
static uint64_t word;
static struct ibv_mr *region;

static struct rdma_cm_event *next_event(void)
{
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(channel, &event))
        OK(errno != EINTR);
    return event;
}

/* The private data of the event that must come now. */
static struct note expect(enum rdma_cm_event_type wanted, struct rdma_cm_id **id)
{
    struct rdma_cm_event *event = next_event();
    struct note note = {0};
    if (event->event != wanted) {
        fprintf(stderr, "%s (status %d) instead of %s\n", rdma_event_str(event->event), event->status,
                rdma_event_str(wanted));
        exit(1);
    }
    const void *data = space == RDMA_PS_UDP ? event->param.ud.private_data : event->param.conn.private_data;
    if (data)
        memcpy(&note, data, sizeof note);
    if (id)
        *id = event->id;
    OK(rdma_ack_cm_event(event));
    return note;
}

static void make_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {.qp_type = id->qp_type,
                                    .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
    OK(rdma_create_qp(id, NULL, &attr));
    if (!region && id->qp_type == IBV_QPT_RC)
        OK(!(region = ibv_reg_mr(id->pd, &word, sizeof word, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)));
}

static struct rdma_conn_param with(struct note *note)
{
    if (region) {
        note->rkey = region->rkey;
        note->address = (uintptr_t)&word;
    }
    return (struct rdma_conn_param){.private_data = note,
                                    .private_data_len = sizeof *note,
                                    .responder_resources = 1,
                                    .initiator_depth = 1,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7};
}

/* One connection; returns the round that it was, or 0 for the last. */
static uint32_t serve(void)
{
    struct rdma_cm_id *id;
    struct note note = expect(RDMA_CM_EVENT_CONNECT_REQUEST, &id);
    uint32_t round = note.round;
    make_qp(id);
    struct rdma_conn_param parameters = with(&note);
    if (space == RDMA_PS_UDP)
        parameters.qp_num = id->qp->qp_num;
    OK(rdma_accept(id, &parameters));
    if (space == RDMA_PS_TCP) {
        expect(RDMA_CM_EVENT_ESTABLISHED, NULL);
        expect(RDMA_CM_EVENT_DISCONNECTED, NULL);
        OK(rdma_disconnect(id));
        if (*(volatile uint64_t *)&word != round) {
            fprintf(stderr, "round %u: the word is %lu\n", round, (unsigned long)word);
            exit(1);
        }
    } else {
        usleep(20000); /* a repeated question is answered by the id as long as it is there */
    }
    rdma_destroy_qp(id);
    OK(rdma_destroy_id(id));
    return round;
}

static void write_word(struct rdma_cm_id *id, uint64_t value, const struct note *peer)
{
    struct ibv_wc done;
    word = value;
    struct ibv_sge sge = {.addr = (uintptr_t)&word, .length = sizeof word, .lkey = region->lkey};
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .wr.rdma = {.remote_addr = peer->address, .rkey = peer->rkey}},
                       *bad;
    OK(ibv_post_send(id->qp, &wr, &bad));
    int got;
    while (!(got = ibv_poll_cq(id->send_cq, 1, &done)))
        ;
    if (got < 0 || done.status) {
        fprintf(stderr, "round %lu: RDMA write: %s\n", (unsigned long)value,
                got < 0 ? "poll failed" : ibv_wc_status_str(done.status));
        exit(1);
    }
}

/* 0 when nobody listens yet. */
static int call(struct sockaddr_in *where, uint32_t round)
{
    struct rdma_cm_id *id;
    struct note note = {.round = round};
    OK(rdma_create_id(channel, &id, NULL, space));
    OK(rdma_resolve_addr(id, NULL, (struct sockaddr *)where, 2000));
    expect(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    OK(rdma_resolve_route(id, 2000));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    make_qp(id);
    struct rdma_conn_param parameters = with(&note);
    OK(rdma_connect(id, &parameters));
    struct rdma_cm_event *event = next_event();
    struct note answer = {0};
    int nobody = space == RDMA_PS_UDP ? event->event == RDMA_CM_EVENT_UNREACHABLE && event->status == NO_SERVICE
                                      : event->event == RDMA_CM_EVENT_REJECTED && event->status == NOBODY_LISTENS;
    int refused = nobody && round == 1;
    const void *data = space == RDMA_PS_UDP ? event->param.ud.private_data : event->param.conn.private_data;
    if (event->event == RDMA_CM_EVENT_ESTABLISHED && data)
        memcpy(&answer, data, sizeof answer);
    else if (!refused) {
        fprintf(stderr, "round %u: %s, status %d\n", round, rdma_event_str(event->event), event->status);
        exit(1);
    }
    OK(rdma_ack_cm_event(event));
    if (!refused && answer.round != round) {
        fprintf(stderr, "round %u answered as %u\n", round, answer.round);
        exit(1);
    }
    if (!refused && space == RDMA_PS_TCP) {
        write_word(id, round, &answer);
        OK(rdma_disconnect(id));
        expect(RDMA_CM_EVENT_DISCONNECTED, NULL);
    }
    rdma_destroy_qp(id);
    OK(rdma_destroy_id(id));
    return !refused;
}

int main(int argc, char **argv)
{
    struct sockaddr_in where = {.sin_family = AF_INET};
    struct rdma_cm_id *listener;
    uint32_t round = 0;
    const char *rank = getenv("PMI_RANK");
    if (argc != 4 || !rank) {
        fprintf(stderr, "cm_rounds tcp|udp PORT FINISH-FILE, as rank 0 or 1 of a job\n");
        return 1;
    }
    int port = atoi(argv[2]);
    space = strcmp(argv[1], "tcp") ? RDMA_PS_UDP : RDMA_PS_TCP;
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(!(channel = rdma_create_event_channel()));
    if (atoi(rank) == 0) {
        where.sin_port = htons((uint16_t)port);
        OK(rdma_create_id(channel, &listener, NULL, space));
        OK(rdma_bind_addr(listener, (struct sockaddr *)&where));
        OK(rdma_listen(listener, 8));
        uint32_t last = 0;
        while ((round = serve()))
            last = round;
        OK(rdma_destroy_id(listener));
        printf("PASS %u\n", last);
        return 0;
    }
    inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
    where.sin_port = htons((uint16_t)port);
    while (access(argv[3], F_OK)) {
        while (!call(&where, round + 1))
            usleep(100000);
        round++;
        if (round % 20 == 0)
            printf("round %u\n", round);
    }
    call(&where, 0);
    printf("PASS %u\n", round);
    return 0;
}
