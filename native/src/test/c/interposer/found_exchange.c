#define _GNU_SOURCE
#include "found_verbs.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
            exit(1); \
        } \
    } while (0)

enum { GRH = 40, BYTES = 256, QKEY = 0x1ee7a };

static void to_rts(const struct found_verbs *verbs, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    CHECK(!verbs->ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    attr.qp_state = IBV_QPS_RTR;
    CHECK(!verbs->ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    CHECK(!verbs->ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

/* To itself: by LID, or by GID where the link is Ethernet. */
static struct ibv_ah *to_itself(const struct found_verbs *verbs, struct ibv_pd *pd, const struct ibv_port_attr *port)
{
    struct ibv_ah_attr attr = {
        .dlid = port->lid, .port_num = 1, .is_global = port->link_layer == IBV_LINK_LAYER_ETHERNET};
    CHECK(!attr.is_global || !verbs->ibv_query_gid(pd->context, 1, 0, &attr.grh.dgid));
    attr.grh.hop_limit = 1;
    return verbs->ibv_create_ah(pd, &attr);
}

/* Waits for the next completion's event, takes it, and the one completion that it tells of. */
static struct ibv_wc await(const struct found_verbs *verbs, struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
    struct ibv_wc wc;
    struct ibv_cq *told;
    void *context;
    CHECK(!verbs->ibv_get_cq_event(channel, &told, &context) && told == cq);
    verbs->ibv_ack_cq_events(cq, 1);
    CHECK(!ibv_req_notify_cq(cq, 0));
    while (!ibv_poll_cq(cq, 1, &wc))
        ;
    return wc;
}

long found_exchange(const struct found_verbs *verbs, const char *finish)
{
    static char memory[2][GRH + BYTES];
    int devices;
    struct ibv_device **list = verbs->ibv_get_device_list(&devices);
    CHECK(list && devices > 0);
    struct ibv_context *context = verbs->ibv_open_device(list[0]);
    CHECK(context);
    verbs->ibv_free_device_list(list);
    struct ibv_device_attr device;
    struct ibv_port_attr port;
    CHECK(!verbs->ibv_query_device(context, &device) &&
          !verbs->ibv_query_port(context, 1, (struct _compat_ibv_port_attr *)&port));
    struct ibv_pd *pd = verbs->ibv_alloc_pd(context);
    struct ibv_mr *mr = pd ? verbs->ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE) : NULL;
    struct ibv_comp_channel *channel = verbs->ibv_create_comp_channel(context);
    struct ibv_cq *sent = verbs->ibv_create_cq(context, 8, NULL, NULL, 0),
                  *received = verbs->ibv_create_cq(context, 8, NULL, channel, 0);
    CHECK(mr && channel && sent && received);
    struct ibv_qp_init_attr init = {
        .send_cq = sent, .recv_cq = received, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_UD, .sq_sig_all = 1};
    struct ibv_qp *qp = verbs->ibv_create_qp(pd, &init);
    struct ibv_ah *ah = to_itself(verbs, pd, &port);
    CHECK(qp && ah);
    to_rts(verbs, qp);
    CHECK(!ibv_req_notify_cq(received, 0));
    long rounds = 0;
    for (; !rounds || access(finish, F_OK); rounds++) {
        struct ibv_sge from = {(uintptr_t)memory[0], BYTES, mr->lkey},
                       into = {(uintptr_t)memory[1], sizeof memory[1], mr->lkey};
        struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = &into, .num_sge = 1}, *bad_receive;
        struct ibv_send_wr send = {.wr_id = 2,
                                   .sg_list = &from,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND,
                                   .wr.ud = {.ah = ah, .remote_qpn = qp->qp_num, .remote_qkey = QKEY}},
                           *bad_send;
        struct ibv_wc wc;
        memset(memory[0], (int)(rounds % 251 + 1), BYTES);
        memset(memory[1], 0, sizeof memory[1]);
        CHECK(!ibv_post_recv(qp, &receive, &bad_receive) && !ibv_post_send(qp, &send, &bad_send));
        wc = await(verbs, channel, received);
        CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH + BYTES && wc.src_qp == qp->qp_num &&
              !memcmp(memory[0], memory[1] + GRH, BYTES));
        while (!ibv_poll_cq(sent, 1, &wc))
            ;
        CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2);
        if (!rounds) {
            puts("iteration");
            fflush(stdout);
        }
        usleep(100);
    }
    CHECK(!verbs->ibv_destroy_ah(ah) && !verbs->ibv_destroy_qp(qp) && !verbs->ibv_destroy_cq(sent) &&
          !verbs->ibv_destroy_cq(received));
    CHECK(!verbs->ibv_destroy_comp_channel(channel) && !verbs->ibv_dereg_mr(mr) && !verbs->ibv_dealloc_pd(pd) &&
          !verbs->ibv_close_device(context));
    return rounds;
}
