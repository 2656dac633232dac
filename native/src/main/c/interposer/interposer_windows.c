/* Memory windows: libibverbs' inline functions call them in the context (verbs.h). */
#include "interposer.h"

/* Binds a window of type 1 by a posted request; each binding has the next key (ibv_bind_mw(3)). */
static int bind_by_posting(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    struct ibv_send_wr wr = {.wr_id = bind->wr_id,
                             .opcode = IBV_WR_BIND_MW,
                             .send_flags = bind->send_flags,
                             .bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = bind->bind_info}},
                       *bad;
    int error = qp->context->ops.post_send(qp, &wr, &bad);
    if (!error)
        mw->rkey = wr.bind_mw.rkey;
    return error;
}

void interposer_fill_windows(struct ibv_context *context)
{
    const struct verbs_device *device = top_device();
    if (!device->alloc_mw || !device->extends) /* a provider's own context has its provider's */
        return;
    context->ops.alloc_mw = device->alloc_mw;
    context->ops.dealloc_mw = device->dealloc_mw;
    context->ops.bind_mw = device->bind_mw ? device->bind_mw : bind_by_posting;
}
