/* ibv_wr_*: between start and complete the requests are collected, then they are posted as one list. What can be wrong
 * with a request is noticed while it is built, so that complete posts all or none. */
#include "device/extended.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct wr_builder {
    struct soft_lock lock;
    uint32_t count, addressed; /* requests, and UD addresses that were set */
    int error;
    struct ibv_send_wr *current;
    int (*post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int datagrams;
    uint32_t room, max_sge, max_inline; /* room: requests that one critical section can hold */
    struct ibv_send_wr *wrs;            /* linked for good, and one that takes what there is no room for */
    struct ibv_sge *sges;               /* max_sge for each */
    char *inline_data;                  /* max_inline for each */
};

static inline struct wr_builder *builder_of(struct ibv_qp_ex *qp)
{
    return ((struct extended_qp *)qp)->builder;
}

static void start(struct ibv_qp_ex *qp)
{
    struct wr_builder *builder = builder_of(qp);
    soft_lock(&builder->lock);
    builder->count = builder->addressed = 0;
    builder->error = 0;
    builder->current = &builder->wrs[builder->room];
}

static inline __attribute__((always_inline)) struct ibv_send_wr *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
    struct wr_builder *builder = builder_of(qp);
    struct ibv_send_wr *wr = &builder->wrs[builder->count];
    if (UNLIKELY(builder->count == builder->room))
        builder->error = ENOMEM;
    else
        builder->count++;
    wr->wr_id = qp->wr_id;
    wr->opcode = opcode;
    wr->send_flags = qp->wr_flags & ~(unsigned)IBV_SEND_INLINE; /* the setters of the data say that */
    wr->num_sge = 0;
    builder->current = wr;
    return wr;
}

static void send(struct ibv_qp_ex *qp)
{
    begin(qp, IBV_WR_SEND);
}

static void send_imm(struct ibv_qp_ex *qp, __be32 immediate)
{
    begin(qp, IBV_WR_SEND_WITH_IMM)->imm_data = immediate;
}

static void send_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, IBV_WR_SEND_WITH_INV)->invalidate_rkey = key;
}

static void local_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, IBV_WR_LOCAL_INV)->invalidate_rkey = key;
}

static void bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
    struct ibv_send_wr *wr = begin(qp, IBV_WR_BIND_MW);
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = rkey;
    wr->bind_mw.bind_info = *info;
}

static void rdma(struct ibv_send_wr *wr, uint32_t rkey, uint64_t address)
{
    wr->wr.rdma.remote_addr = address;
    wr->wr.rdma.rkey = rkey;
}

static void rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address)
{
    rdma(begin(qp, IBV_WR_RDMA_READ), rkey, address);
}

static void rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address)
{
    rdma(begin(qp, IBV_WR_RDMA_WRITE), rkey, address);
}

static void rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, __be32 immediate)
{
    struct ibv_send_wr *wr = begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM);
    rdma(wr, rkey, address);
    wr->imm_data = immediate;
}

static void atomic(struct ibv_send_wr *wr, uint32_t rkey, uint64_t address, uint64_t compare_add, uint64_t swap)
{
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = compare_add;
    wr->wr.atomic.swap = swap;
    wr->wr.atomic.rkey = rkey;
}

static void compare_swap(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap)
{
    atomic(begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP), rkey, address, compare, swap);
}

static void fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, uint64_t add)
{
    atomic(begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD), rkey, address, add, 0);
}

static void set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    struct wr_builder *builder = builder_of(qp);
    struct ibv_send_wr *wr = builder->current;
    builder->addressed += ah != NULL;
    wr->wr.ud.ah = ah;
    wr->wr.ud.remote_qpn = qpn;
    wr->wr.ud.remote_qkey = qkey;
}

static void set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t number)
{
    builder_of(qp)->current->qp_type.xrc.remote_srqn = number;
}

static void set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t address, uint32_t length)
{
    struct ibv_send_wr *wr = builder_of(qp)->current;
    wr->num_sge = 1;
    *wr->sg_list = (struct ibv_sge){.addr = address, .length = length, .lkey = lkey};
}

static void set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
    struct wr_builder *builder = builder_of(qp);
    if (UNLIKELY(count > builder->max_sge)) {
        builder->error = EINVAL;
        return;
    }
    builder->current->num_sge = (int)count;
    for (size_t i = 0; i < count; i++)
        builder->current->sg_list[i] = list[i];
}

/* For queue pairs without elements. */
static void set_no_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t address, uint32_t length)
{
    builder_of(qp)->error = EINVAL;
}

/* Copied here: the caller may use its memory again at once. */
static void set_inline_data_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_data_buf *list)
{
    struct wr_builder *builder = builder_of(qp);
    struct ibv_send_wr *wr = builder->current;
    char *to = builder->inline_data + (size_t)(wr - builder->wrs) * builder->max_inline;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (UNLIKELY(list[i].length > builder->max_inline - total)) {
            builder->error = EINVAL;
            return;
        }
        memcpy(to + total, list[i].addr, list[i].length);
        total += list[i].length;
    }
    wr->send_flags |= IBV_SEND_INLINE;
    wr->num_sge = total ? 1 : 0;
    *wr->sg_list = (struct ibv_sge){.addr = (uintptr_t)to, .length = (uint32_t)total};
}

static void set_inline_data(struct ibv_qp_ex *qp, void *address, size_t length)
{
    set_inline_data_list(qp, 1, &(struct ibv_data_buf){address, length});
}

static int complete(struct ibv_qp_ex *qp)
{
    struct wr_builder *builder = builder_of(qp);
    struct ibv_send_wr *last = builder->wrs + builder->count - 1, *bad;
    int error = builder->error;
    if (UNLIKELY(!error && builder->datagrams && builder->addressed != builder->count))
        error = EINVAL;
    if (!error && builder->count) {
        last->next = NULL;
        error = builder->post(&qp->qp_base, builder->wrs, &bad);
        last->next = last + 1;
    }
    soft_unlock(&builder->lock);
    return error;
}

static void abandon(struct ibv_qp_ex *qp)
{
    soft_unlock(&builder_of(qp)->lock);
}

static void fill(struct ibv_qp_ex *qp, uint32_t max_sge)
{
    qp->wr_start = start;
    qp->wr_complete = complete;
    qp->wr_abort = abandon;
    qp->wr_send = send;
    qp->wr_send_imm = send_imm;
    qp->wr_send_inv = send_inv;
    qp->wr_local_inv = local_inv;
    qp->wr_bind_mw = bind_mw;
    qp->wr_rdma_read = rdma_read;
    qp->wr_rdma_write = rdma_write;
    qp->wr_rdma_write_imm = rdma_write_imm;
    qp->wr_atomic_cmp_swp = compare_swap;
    qp->wr_atomic_fetch_add = fetch_add;
    qp->wr_set_ud_addr = set_ud_addr;
    qp->wr_set_xrc_srqn = set_xrc_srqn;
    qp->wr_set_sge = max_sge ? set_sge : set_no_sge;
    qp->wr_set_sge_list = set_sge_list;
    qp->wr_set_inline_data = set_inline_data;
    qp->wr_set_inline_data_list = set_inline_data_list;
}

static uint64_t offered(enum ibv_qp_type type)
{
    const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    const uint64_t windows = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
    const uint64_t answered =
        IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    const uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    switch (type) {
    case IBV_QPT_UD:
        return sends;
    case IBV_QPT_UC:
        return sends | writes | windows;
    case IBV_QPT_RC:
        return sends | writes | windows | answered;
    case IBV_QPT_XRC_SEND:
        return sends | writes | answered | IBV_QP_EX_WITH_SEND_WITH_INV;
    default:
        return 0;
    }
}

int extended_builder_make(struct ibv_qp *qp, const struct ibv_qp_cap *cap, uint64_t operations)
{
    struct extended_qp *extended = (struct extended_qp *)qp;
    if (operations & ~offered(qp->qp_type))
        return EOPNOTSUPP;
    struct wr_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return ENOMEM;
    size_t slots = (size_t)cap->max_send_wr + 1, elements = cap->max_send_sge ? cap->max_send_sge : 1;
    builder->wrs = calloc(slots, sizeof *builder->wrs);
    builder->sges = calloc(slots * elements, sizeof *builder->sges);
    builder->inline_data = malloc(slots * cap->max_inline_data + 1);
    if (!builder->wrs || !builder->sges || !builder->inline_data) {
        extended_builder_free(builder);
        return ENOMEM;
    }
    for (size_t i = 0; i < slots; i++) {
        builder->wrs[i].next = &builder->wrs[i + 1];
        builder->wrs[i].sg_list = &builder->sges[i * elements];
    }
    builder->post = qp->context->ops.post_send;
    builder->datagrams = qp->qp_type == IBV_QPT_UD;
    builder->room = cap->max_send_wr;
    builder->max_sge = cap->max_send_sge;
    builder->max_inline = cap->max_inline_data;
    fill(&extended->ex, cap->max_send_sge);
    extended->builder = builder;
    return 0;
}

void extended_builder_free(struct wr_builder *builder)
{
    if (!builder)
        return;
    free(builder->wrs);
    free(builder->sges);
    free(builder->inline_data);
    free(builder);
}
