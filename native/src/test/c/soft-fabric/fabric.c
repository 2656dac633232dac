#include "fabric.h"
#include <sys/mman.h>

struct ibv_context *open_soft(void)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list && count == 1);
    struct ibv_context *context = ibv_open_device(list[0]);
    CHECK(context);
    ibv_free_device_list(list);
    return context;
}

int to_init(struct ibv_qp *qp, uint32_t qkey)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

int to_rtr(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = 1};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

int state_of(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    EQUAL(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    return (int)attr.qp_state;
}

struct ibv_ah *ah_to(struct ibv_pd *pd, uint16_t lid)
{
    struct ibv_ah_attr attr = {.dlid = lid, .port_num = 1};
    return ibv_create_ah(pd, &attr);
}

static int or_else(int value, int other)
{
    return value ? value : other;
}

struct end make_end(struct end_options o)
{
    struct end end = {.size = 1 << 20};
    end.context = o.share ? o.share->context : open_soft();
    end.pd = o.share ? o.share->pd : ibv_alloc_pd(end.context);
    end.memory = o.share ? o.share->memory : aligned_alloc(4096, end.size);
    end.mr = o.share ? o.share->mr : ibv_reg_mr(end.pd, end.memory, end.size, IBV_ACCESS_LOCAL_WRITE);
    CHECK(end.pd && end.memory && end.mr);
    end.channel = o.with_channel ? ibv_create_comp_channel(end.context) : NULL;
    CHECK(end.channel || !o.with_channel);
    end.send_cq = ibv_create_cq(end.context, or_else(o.send_cqe, 128), NULL, NULL, 0);
    end.recv_cq = ibv_create_cq(end.context, or_else(o.recv_cqe, 256), &end, end.channel, 0);
    CHECK(end.send_cq && end.recv_cq);
    struct ibv_qp_init_attr init = {
        .send_cq = end.send_cq,
        .recv_cq = end.recv_cq,
        .srq = o.srq,
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = o.signal_all,
        .cap = {(uint32_t)or_else(o.send_wr, 64), (uint32_t)or_else(o.recv_wr, 128), (uint32_t)or_else(o.sge, 4),
                (uint32_t)or_else(o.sge, 4), (uint32_t)o.inline_data},
    };
    end.srq = o.srq;
    end.qp = ibv_create_qp(end.pd, &init);
    CHECK(end.qp);
    struct ibv_port_attr port;
    EQUAL(0, ibv_query_port(end.context, 1, &port));
    end.ah = ah_to(end.pd, port.lid);
    CHECK(end.ah);
    if (!o.stay_in_reset) {
        EQUAL(0, to_init(end.qp, QKEY));
        EQUAL(0, to_rtr(end.qp));
        EQUAL(0, to_rts(end.qp));
    }
    return end;
}

/* Destroys the queue pair and its queues; the context stays, others may share it. */
void drop_end(struct end *end)
{
    EQUAL(0, ibv_destroy_ah(end->ah));
    EQUAL(0, ibv_destroy_qp(end->qp));
    EQUAL(0, ibv_destroy_cq(end->send_cq));
    EQUAL(0, ibv_destroy_cq(end->recv_cq));
    if (end->channel)
        EQUAL(0, ibv_destroy_comp_channel(end->channel));
}

struct ibv_sge sge_at(struct end *end, size_t offset, uint32_t length)
{
    return (struct ibv_sge){(uintptr_t)end->memory + offset, length, end->mr->lkey};
}

struct ibv_sge unmapped_sge(struct end *end, uint32_t length)
{
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr = ibv_reg_mr(end->pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr);
    munmap(memory, 4096);
    return (struct ibv_sge){(uintptr_t)memory, length, mr->lkey};
}

int post_recv(struct end *end, size_t offset, uint32_t length)
{
    struct ibv_sge sge = sge_at(end, offset, length);
    struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;
    return end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) : ibv_post_recv(end->qp, &wr, &bad);
}

struct ibv_send_wr send_wr(struct end *to, struct ibv_sge *sge, unsigned flags)
{
    return (struct ibv_send_wr){
        .sg_list = sge,
        .num_sge = sge ? 1 : 0,
        .opcode = IBV_WR_SEND,
        .send_flags = flags,
        .wr.ud = {.ah = to->ah, .remote_qpn = to->qp->qp_num, .remote_qkey = QKEY},
    };
}

int post_send(struct end *end, struct end *to, size_t offset, uint32_t length, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, length);
    struct ibv_send_wr wr = send_wr(to, &sge, flags), *bad;
    wr.wr_id = offset;
    return ibv_post_send(end->qp, &wr, &bad);
}

int poll_for(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    int got = 0;
    do {
        int n = ibv_poll_cq(cq, count - got, wc + got);
        CHECK(n >= 0);
        got += n;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (got < count && (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)));
    return got;
}

/* On one machine a datagram is in the receiver's socket when the send returns, so a few polls do. */
int stays_empty(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    for (int i = 0; i < 5; i++)
        if (ibv_poll_cq(cq, 1, &wc) != 0)
            return 0;
    return 1;
}

void fill(char *at, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        at[i] = (char)(seed * 131 + i * 7 + (i >> 8));
}

int is_filled(const char *at, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] != (char)(seed * 131 + i * 7 + (i >> 8)))
            return 0;
    return 1;
}

int run_cases(int argc, char **argv, const struct fabric_case *cases)
{
    for (const struct fabric_case *c = cases; c->name; c++) {
        if (argc < 2)
            puts(c->name);
        else if (!strcmp(argv[1], c->name))
            return c->run(), 0;
    }
    if (argc < 2)
        return 0;
    fprintf(stderr, "no case %s\n", argv[1]);
    return 2;
}
