/* Memory windows: libibverbs' inline functions call them in the context (verbs.h). */
#include "interposer.h"

void interposer_fill_windows(struct ibv_context *context)
{
    const struct verbs_device *device = top_device();
    if (!device->alloc_mw)
        return;
    context->ops.alloc_mw = device->alloc_mw;
    context->ops.dealloc_mw = device->dealloc_mw;
    context->ops.bind_mw = device->bind_mw;
}
