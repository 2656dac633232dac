/* ibv_start_poll and its like: one completion at a time from the device's poll_cq, so that none is ever held back where
 * a checkpoint, ibv_poll_cq or the end of a queue pair would have to look for it. */
#include "interposer.h"
#include "device/extended.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

static inline struct extended_cq *of(struct ibv_cq_ex *cq)
{
    return (struct extended_cq *)cq;
}

/* 0, ENOENT when there is none, or EIO when the queue has overflowed. */
static inline int take(struct extended_cq *cq)
{
    int got = cq->cq.context->ops.poll_cq(&cq->cq, 1, &cq->wc);
    if (LIKELY(got > 0)) {
        cq->ex.wr_id = cq->wc.wr_id;
        cq->ex.status = cq->wc.status;
        return 0;
    }
    return got ? EIO : ENOENT;
}

static int start_alone(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    return attr->comp_mask ? EINVAL : take(of(cq));
}

static int start(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask)
        return EINVAL;
    soft_lock(&of(cq)->lock);
    int error = take(of(cq));
    if (error)
        soft_unlock(&of(cq)->lock);
    return error;
}

static int next(struct ibv_cq_ex *cq)
{
    return take(of(cq));
}

static void end_alone(struct ibv_cq_ex *cq)
{
}

static void end(struct ibv_cq_ex *cq)
{
    soft_unlock(&of(cq)->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.opcode;
}
static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.vendor_err;
}
static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.byte_len;
}
static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.imm_data;
}
static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.qp_num;
}
static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.src_qp;
}
static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.wc_flags;
}
static uint32_t read_slid(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.slid;
}
static uint8_t read_sl(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.sl;
}
static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
    return of(cq)->wc.dlid_path_bits;
}

static void fill(struct ibv_cq_ex *cq, int alone)
{
    cq->start_poll = alone ? start_alone : start;
    cq->next_poll = next;
    cq->end_poll = alone ? end_alone : end;
    cq->read_opcode = read_opcode;
    cq->read_vendor_err = read_vendor_err;
    cq->read_byte_len = read_byte_len;
    cq->read_imm_data = read_imm_data;
    cq->read_qp_num = read_qp_num;
    cq->read_src_qp = read_src_qp;
    cq->read_wc_flags = read_wc_flags;
    cq->read_slid = read_slid;
    cq->read_sl = read_sl;
    cq->read_dlid_path_bits = read_dlid_path_bits;
}

static int check(const struct ibv_cq_init_attr_ex *attr)
{
    const uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
    if (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS)
        return interposer_lacks("ibv_create_cq_ex with time stamps, VLANs, flow tags or tag matching",
                                "only the standard fields of a completion are virtualized");
    if (attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
        return EINVAL;
    if (flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
        return interposer_lacks("ibv_create_cq_ex with IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN", "overruns are always "
                                                                                           "reported");
    return attr->cqe > INT32_MAX || attr->comp_vector > INT32_MAX ? EINVAL : 0;
}

struct ibv_cq_ex *extended_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    int error = check(attr);
    if (error) {
        errno = error;
        return NULL;
    }
    struct ibv_cq *cq =
        top_device()->create_cq(context, (int)attr->cqe, attr->cq_context, attr->channel, (int)attr->comp_vector);
    if (!cq)
        return NULL;
    struct ibv_cq_ex *extended = &((struct extended_cq *)cq)->ex;
    fill(extended, attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS && attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
    return extended;
}
