/* What rdma_cm takes and gives: cm_parameters PORT, as the only rank of a job, which connects to itself. Expected is
 * what librdmacm and the kernel's cm do on an InfiniBand device. "PASS" at the end; a message and exit code 1
 * otherwise. */
#include "cm_parameters.h"
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <string.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *tcp, *udp; /* listeners */
struct sockaddr_in here, nobody;
static int most_reads;
static uint8_t data[256];

static struct rdma_cm_event next(void)
{
    struct rdma_cm_event *event, copy;
    CHECK(!rdma_get_cm_event(channel, &event));
    copy = *event; /* its private data is read before the acknowledgement: private_is() */
    const void *bytes =
        event->id->qp_type == IBV_QPT_UD ? event->param.ud.private_data : event->param.conn.private_data;
    static uint8_t all[4][256];
    static unsigned turn;
    uint8_t *kept = memset(all[turn++ % 4], 0, sizeof all[0]); /* for as many events more */
    if (bytes && event->event != RDMA_CM_EVENT_MULTICAST_JOIN) {
        unsigned length =
            event->id->qp_type == IBV_QPT_UD ? event->param.ud.private_data_len : event->param.conn.private_data_len;
        memcpy(kept, bytes, length);
        copy.param.conn.private_data = kept; /* at the same place in both */
    }
    CHECK(!rdma_ack_cm_event(event));
    return copy;
}

static struct rdma_cm_event expect(enum rdma_cm_event_type type)
{
    struct rdma_cm_event event = next();
    if (event.event != type)
        fprintf(stderr, "%s (status %d) instead of %s\n", rdma_event_str(event.event), event.status,
                rdma_event_str(type));
    CHECK(event.event == type);
    return event;
}

/* All of the message's room, zeroes after what was sent. */
static void private_is(const void *bytes, unsigned room, unsigned length, unsigned sent)
{
    static const uint8_t zeroes[256];
    CHECK(length == room && !!bytes == !!room);
    CHECK(!memcmp(bytes, data, sent) && !memcmp((const uint8_t *)bytes + sent, zeroes, room - sent));
}

static struct ibv_qp_attr attributes(const struct rdma_cm_id *id)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    int all = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
              IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
    CHECK(!ibv_query_qp(id->qp, &attr, all, &init));
    return attr;
}

static void make_queue_pair(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {.qp_type = id->qp_type,
                                    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    CHECK(id->pd && !rdma_create_qp(id, NULL, &attr));
}

static struct rdma_cm_id *resolved(enum rdma_port_space space, struct sockaddr_in *where)
{
    struct rdma_cm_id *id;
    CHECK(!rdma_create_id(channel, &id, NULL, space));
    CHECK(!rdma_resolve_addr(id, NULL, (struct sockaddr *)where, 2000));
    expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    REFUSED(EINVAL, rdma_connect(id, NULL)); /* no route yet */
    CHECK(!rdma_resolve_route(id, 2000));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    REFUSED(EINVAL, rdma_resolve_route(id, 2000));
    return id;
}

static void destroy(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    CHECK(!rdma_destroy_id(id));
}

/* Ends a connection: each side is told once. */
static void end(struct rdma_cm_id *active, struct rdma_cm_id *passive)
{
    CHECK(!rdma_disconnect(active));
    expect(RDMA_CM_EVENT_DISCONNECTED);
    expect(RDMA_CM_EVENT_DISCONNECTED);
    CHECK(!rdma_disconnect(passive));
    CHECK(!rdma_disconnect(active)); /* again: nothing to do */
    destroy(active);
    destroy(passive);
}

/* One connection; NULL: no parameters. */
struct sides {
    struct rdma_cm_id *active, *passive;
    struct rdma_cm_event request, answer;
};

static struct sides connected(struct rdma_conn_param *asked, struct rdma_conn_param *answered, int own_timeout)
{
    struct sides sides = {.active = resolved(RDMA_PS_TCP, &here)};
    uint8_t timeout = (uint8_t)own_timeout;
    make_queue_pair(sides.active);
    CHECK(attributes(sides.active).qp_access_flags == 0);
    if (own_timeout >= 0)
        CHECK(!rdma_set_option(sides.active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
    CHECK(!rdma_connect(sides.active, asked));
    sides.request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    private_is(sides.request.param.conn.private_data, REQ_ROOM, sides.request.param.conn.private_data_len,
               asked && asked->private_data ? asked->private_data_len : 0);
    sides.passive = sides.request.id;
    make_queue_pair(sides.passive);
    CHECK(!rdma_accept(sides.passive, answered));
    for (int i = 0; i < 2; i++) {
        struct rdma_cm_event event = expect(RDMA_CM_EVENT_ESTABLISHED);
        if (event.id == sides.active)
            sides.answer = event;
        else
            CHECK(!event.param.conn.private_data_len && !event.param.conn.qp_num); /* an RTU tells nothing */
    }
    private_is(sides.answer.param.conn.private_data, REP_ROOM, sides.answer.param.conn.private_data_len,
               answered && answered->private_data ? answered->private_data_len : 0);
    return sides;
}

static void defaults(void)
{
    struct sides sides = connected(NULL, NULL, -1);
    const struct rdma_conn_param *request = &sides.request.param.conn, *answer = &sides.answer.param.conn;
    CHECK(request->responder_resources == most_reads && request->initiator_depth == most_reads);
    CHECK(request->retry_count == MOST && request->rnr_retry_count == MOST && !request->flow_control && !request->srq);
    CHECK(request->qp_num == sides.active->qp->qp_num && answer->qp_num == sides.passive->qp->qp_num);
    CHECK(answer->responder_resources == most_reads && answer->initiator_depth == most_reads);
    CHECK(!answer->retry_count && answer->rnr_retry_count == MOST);
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr attr = attributes(i ? sides.active : sides.passive);
        CHECK(attr.qp_state == IBV_QPS_RTS && attr.qp_access_flags == (IBV_ACCESS_REMOTE_WRITE | READS));
        CHECK(attr.retry_cnt == MOST && attr.rnr_retry == MOST && attr.min_rnr_timer == 0 && attr.timeout > 0);
        CHECK(attr.max_rd_atomic == most_reads && attr.max_dest_rd_atomic == most_reads);
    }
    end(sides.active, sides.passive);
}

/* Counts that the messages have no room for are the largest that they have; the requester's counts are for both queue
 * pairs, but the acceptor's rnr_retry_count is for the requester's. */
static void counts(void)
{
    struct rdma_conn_param asked = {
        .retry_count = 15, .rnr_retry_count = 255, .initiator_depth = 2, .flow_control = 3, .srq = 1, .qp_num = 5};
    struct rdma_conn_param answered = {.rnr_retry_count = 3, .responder_resources = 1, .retry_count = 2};
    struct sides sides = connected(&asked, &answered, 0);
    const struct rdma_conn_param *request = &sides.request.param.conn, *answer = &sides.answer.param.conn;
    CHECK(request->retry_count == MOST && request->rnr_retry_count == MOST && request->flow_control == 1);
    CHECK(!request->srq && request->qp_num == sides.active->qp->qp_num); /* its own queue pair knows better */
    CHECK(request->responder_resources == 2 && request->initiator_depth == 0);
    CHECK(answer->initiator_depth == 1 && answer->responder_resources == 0 && answer->rnr_retry_count == 3);
    struct ibv_qp_attr active = attributes(sides.active), passive = attributes(sides.passive);
    CHECK(active.retry_cnt == MOST && active.rnr_retry == 3 && active.timeout == 0);
    CHECK(passive.retry_cnt == MOST && passive.rnr_retry == MOST && passive.timeout > 0);
    CHECK(active.max_rd_atomic == 1 && active.max_dest_rd_atomic == 0 && passive.max_dest_rd_atomic == 1 &&
          passive.max_rd_atomic == 0);
    CHECK(active.qp_access_flags == IBV_ACCESS_REMOTE_WRITE &&
          passive.qp_access_flags == (IBV_ACCESS_REMOTE_WRITE | READS));
    end(sides.active, sides.passive);
}

static void private_data(void)
{
    struct rdma_conn_param asked = {.private_data = data, .private_data_len = REQ_ROOM},
                           answered = {.private_data = data, .private_data_len = REP_ROOM};
    struct sides sides = connected(&asked, &answered, -1);
    end(sides.active, sides.passive);
    asked.private_data_len = answered.private_data_len = 9;
    sides = connected(&asked, &answered, -1);
    end(sides.active, sides.passive);
    asked.private_data = NULL; /* a length without data is none */
    asked.private_data_len = 255;
    sides = connected(&asked, NULL, -1);
    end(sides.active, sides.passive);
}

static void impossible(void)
{
    struct rdma_cm_id *id = resolved(RDMA_PS_TCP, &here);
    struct rdma_conn_param asked = {.private_data = data, .private_data_len = REQ_ROOM + 1};
    uint8_t timeout = 32;
    REFUSED(EINVAL, rdma_connect(id, NULL)); /* neither a queue pair nor a number of one */
    make_queue_pair(id);
    REFUSED(EINVAL, rdma_connect(id, &asked));
    asked = (struct rdma_conn_param){.responder_resources = (uint8_t)(most_reads + 1)};
    REFUSED(EINVAL, rdma_connect(id, &asked));
    asked = (struct rdma_conn_param){.initiator_depth = (uint8_t)(most_reads + 1)};
    REFUSED(EINVAL, rdma_connect(id, &asked));
    REFUSED(EINVAL, rdma_disconnect(id));
    REFUSED(EINVAL, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
    REFUSED(EINVAL, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &timeout, 4));
    REFUSED(ENOSYS, rdma_set_option(id, RDMA_OPTION_ID, 77, &timeout, 1));
    struct sockaddr_in6 other = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr wrong = {.sa_family = AF_UNIX};
    destroy(id);
    REFUSED(EINVAL, rdma_create_id(channel, &id, NULL, (enum rdma_port_space)7));
    CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
    REFUSED(EINVAL, rdma_resolve_addr(id, &wrong, (struct sockaddr *)&here, 2000));
    REFUSED(EINVAL, rdma_bind_addr(id, &wrong));
    struct sockaddr_in any = {.sin_family = AF_INET};
    CHECK(!rdma_bind_addr(id, (struct sockaddr *)&any));
    REFUSED(EINVAL,
            rdma_resolve_addr(id, NULL, (struct sockaddr *)&other, 2000)); /* not of the family it is bound in */
    destroy(id);
}

/* A queue pair of the program's own: its number and its SRQ are what the parameters say. */
static void own_queue_pair(void)
{
    struct rdma_cm_id *active = resolved(RDMA_PS_TCP, &here);
    struct rdma_conn_param asked = {.qp_num = 0x7123456, .srq = 4, .initiator_depth = 1, .retry_count = 1},
                           answered = {.qp_num = 0x11, .responder_resources = 1};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    int mask;
    REFUSED(EINVAL, rdma_init_qp_attr(active, &attr, &mask));
    CHECK(!rdma_connect(active, &asked));
    struct rdma_cm_event request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK(request.param.conn.qp_num == 0x123456 && request.param.conn.srq == 1);
    REFUSED(EINVAL, rdma_accept(request.id, NULL));
    answered.private_data = data;
    answered.private_data_len = REP_ROOM + 1;
    REFUSED(EINVAL, rdma_accept(request.id, &answered));
    answered.private_data_len = 0;
    CHECK(!rdma_accept(request.id, &answered));
    struct rdma_cm_event answer = expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
    CHECK(answer.param.conn.qp_num == 0x11);
    CHECK(!rdma_init_qp_attr(active, &attr, &mask));
    CHECK(attr.dest_qp_num == 0x11 && attr.min_rnr_timer == 0 && mask & IBV_QP_MAX_DEST_RD_ATOMIC);
    attr.qp_state = IBV_QPS_RTS;
    CHECK(!rdma_init_qp_attr(active, &attr, &mask) && attr.retry_cnt == 1 && attr.max_rd_atomic == 1 &&
          mask & IBV_QP_RETRY_CNT);
    attr.qp_state = IBV_QPS_INIT;
    CHECK(!rdma_init_qp_attr(active, &attr, &mask) && attr.qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
    CHECK(!rdma_establish(active));
    expect(RDMA_CM_EVENT_ESTABLISHED);
    end(active, request.id);
}

/* A rejected queue pair is in error when its program is told, with all the room for words. */
static void rejections(void)
{
    struct rdma_cm_id *active = resolved(RDMA_PS_TCP, &here);
    make_queue_pair(active);
    CHECK(!rdma_connect(active, NULL));
    struct rdma_cm_event request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    REFUSED(EINVAL, rdma_reject(request.id, data, REJ_ROOM + 1));
    CHECK(!rdma_reject(request.id, data, REJ_ROOM));
    struct rdma_cm_event answer = expect(RDMA_CM_EVENT_REJECTED);
    CHECK(answer.status == 28);
    private_is(answer.param.conn.private_data, REJ_ROOM, answer.param.conn.private_data_len, REJ_ROOM);
    CHECK(attributes(active).qp_state == IBV_QPS_ERR);
    destroy(active);
    destroy(request.id);
    active = resolved(RDMA_PS_TCP, &nobody);
    make_queue_pair(active);
    CHECK(!rdma_connect(active, NULL));
    answer = expect(RDMA_CM_EVENT_REJECTED);
    CHECK(answer.status == 8);
    private_is(answer.param.conn.private_data, REJ_ROOM, answer.param.conn.private_data_len, 0);
    destroy(active);
}

static struct rdma_cm_event datagram_request(struct rdma_cm_id **active)
{
    struct rdma_conn_param asked = {.private_data = data, .private_data_len = SIDR_REQ_ROOM + 1};
    *active = resolved(RDMA_PS_UDP, &here);
    make_queue_pair(*active);
    REFUSED(EINVAL, rdma_connect(*active, &asked));
    asked.private_data_len = 3;
    CHECK(!rdma_connect(*active, &asked));
    struct rdma_cm_event request = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    private_is(request.param.ud.private_data, SIDR_REQ_ROOM, request.param.ud.private_data_len, 3);
    return request;
}

static void datagrams(void)
{
    struct rdma_cm_id *active;
    struct rdma_cm_event request = datagram_request(&active);
    struct rdma_conn_param answered = {.private_data = data, .private_data_len = SIDR_REP_ROOM + 1};
    make_queue_pair(request.id);
    REFUSED(EINVAL, rdma_accept(request.id, &answered));
    answered.private_data_len = 4;
    CHECK(!rdma_accept(request.id, &answered));
    struct rdma_cm_event answer = expect(RDMA_CM_EVENT_ESTABLISHED);
    CHECK(answer.param.ud.qp_num == request.id->qp->qp_num && answer.param.ud.qkey == RDMA_UDP_QKEY);
    private_is(answer.param.ud.private_data, SIDR_REP_ROOM, answer.param.ud.private_data_len, 4);
    CHECK(!rdma_disconnect(active) && attributes(active).qp_state == IBV_QPS_ERR); /* nobody else is told */
    destroy(active);
    destroy(request.id);
    request = datagram_request(&active);
    REFUSED(EINVAL, rdma_reject(request.id, data, SIDR_REP_ROOM + 1));
    CHECK(!rdma_reject(request.id, data, 5));
    answer = expect(RDMA_CM_EVENT_UNREACHABLE);
    CHECK(answer.status == 2);
    private_is(answer.param.ud.private_data, SIDR_REP_ROOM, answer.param.ud.private_data_len, 5);
    destroy(active);
    destroy(request.id);
    active = resolved(RDMA_PS_UDP, &nobody);
    make_queue_pair(active);
    CHECK(!rdma_connect(active, NULL));
    answer = expect(RDMA_CM_EVENT_UNREACHABLE);
    CHECK(answer.status == 1);
    destroy(active);
}

static void multicast(void)
{
    struct rdma_cm_id *id;
    struct sockaddr_in group = {.sin_family = AF_INET}, other = group;
    int context;
    static const uint8_t gid[16] = {0xff, 0x12, 0x40, 0x01, 0xff, 0xff, [12] = 0x0f, 1, 2, 3};
    group.sin_addr.s_addr = htonl(0xef010203); /* 239.1.2.3 */
    other.sin_addr.s_addr = htonl(0xef010204);
    CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
    REFUSED(EINVAL, rdma_join_multicast(id, (struct sockaddr *)&group, NULL)); /* not on a device yet */
    CHECK(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, 2000));
    expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    make_queue_pair(id);
    CHECK(!rdma_join_multicast(id, (struct sockaddr *)&group, &context));
    struct rdma_cm_event joined = expect(RDMA_CM_EVENT_MULTICAST_JOIN);
    CHECK(!joined.status && joined.param.ud.private_data == &context && joined.param.ud.qp_num == 0xffffff);
    CHECK(joined.param.ud.qkey == RDMA_UDP_QKEY && !memcmp(joined.param.ud.ah_attr.grh.dgid.raw, gid, sizeof gid));
    REFUSED(EADDRNOTAVAIL, rdma_leave_multicast(id, (struct sockaddr *)&other));
    CHECK(!rdma_leave_multicast(id, (struct sockaddr *)&group));
    REFUSED(EADDRNOTAVAIL, rdma_leave_multicast(id, (struct sockaddr *)&group));
    CHECK(!rdma_join_multicast(id, (struct sockaddr *)&group, NULL)); /* and left before the program is told */
    CHECK(!rdma_leave_multicast(id, (struct sockaddr *)&group));
    destroy(id);
}

/* RDMA_OPTION_ID_AFONLY of rdma_set_option(3): listeners at any address of each family have one port. */
static void families(void)
{
    struct rdma_cm_id *four, *six, *id;
    int on = 1;
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6}, here6 = {.sin6_family = AF_INET6};
    here6.sin6_addr = in6addr_loopback;
    CHECK(!rdma_create_id(channel, &four, NULL, RDMA_PS_TCP) && !rdma_bind_addr(four, (struct sockaddr *)&any4) &&
          !rdma_listen(four, 0));
    here6.sin6_port = any6.sin6_port = any4.sin_port = rdma_get_src_port(four);
    CHECK(any4.sin_port && !rdma_create_id(channel, &six, NULL, RDMA_PS_TCP));
    CHECK(rdma_bind_addr(six, (struct sockaddr *)&any6)); /* it would take IPv4 connections, too */
    CHECK(!rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on));
    CHECK(!rdma_bind_addr(six, (struct sockaddr *)&any6) && !rdma_listen(six, 0));
    for (int i = 0; i < 2; i++) {
        struct sockaddr *to = i ? (struct sockaddr *)&here6 : (struct sockaddr *)&any4;
        any4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) && !rdma_resolve_addr(id, NULL, to, 2000));
        expect(RDMA_CM_EVENT_ADDR_RESOLVED);
        CHECK(!rdma_resolve_route(id, 2000));
        expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
        make_queue_pair(id);
        CHECK(!rdma_connect(id, &(struct rdma_conn_param){0}));
        struct rdma_cm_event asked = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
        CHECK(asked.listen_id == (i ? six : four) && !rdma_reject(asked.id, NULL, 0));
        expect(RDMA_CM_EVENT_REJECTED);
        CHECK(!rdma_destroy_id(asked.id));
        destroy(id);
    }
    CHECK(!rdma_destroy_id(four) && !rdma_destroy_id(six));
}

int main(int argc, char **argv)
{
    struct ibv_device_attr device;
    if (argc != 2)
        return 64;
    here = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    nobody = here;
    nobody.sin_port = htons((uint16_t)(atoi(argv[1]) + 1));
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i + 1);
    CHECK(channel = rdma_create_event_channel());
    CHECK(!rdma_create_id(channel, &tcp, NULL, RDMA_PS_TCP) && !rdma_bind_addr(tcp, (struct sockaddr *)&here) &&
          !rdma_listen(tcp, 0));
    CHECK(!rdma_create_id(channel, &udp, NULL, RDMA_PS_UDP) && !rdma_bind_addr(udp, (struct sockaddr *)&here) &&
          !rdma_listen(udp, 0));
    CHECK(tcp->verbs && !ibv_query_device(tcp->verbs, &device));
    most_reads = device.max_qp_rd_atom;
    CHECK(device.max_qp_init_rd_atom == most_reads && most_reads > 2 && most_reads < 254);
    lookups();
    defaults();
    counts();
    private_data();
    impossible();
    own_queue_pair();
    rejections();
    datagrams();
    multicast();
    families();
    REFUSED(EOPNOTSUPP, rsocket(AF_INET, SOCK_STREAM, 0));
    puts("PASS");
    return 0;
}
