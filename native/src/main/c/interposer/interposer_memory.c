/* Protection domains and memory regions. */
#include "interposer.h"
#include "real-device/real_library.h"
#include <stdio.h>

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    return MAKE(alloc_pd, context);
}

/* What the device is asked for. The optional rights (relaxed ordering, huge pages) are its to take or leave. Memory
 * that shall be paged in on demand is registered as usual, which does the same for the program; but not all of its
 * address space (implicit): as a device without it. */
static int device_access(size_t length, unsigned *access)
{
    static int said;
    if (real_inside || !(*access & IBV_ACCESS_ON_DEMAND))
        return 0;
    if (length == SIZE_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "udckpt: ibv_reg_mr: memory for on-demand paging is registered without it: registered pages "
                        "stay in memory\n");
    *access &= ~(unsigned)IBV_ACCESS_ON_DEMAND;
    return 0;
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
    if (device_access(length, &access))
        return NULL;
    return MAKE(reg_mr, pd, addr, length, iova, access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    return CALL(dereg_mr, mr);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
    interposer_refuse("ibv_rereg_mr", "deregister and register instead");
    return IBV_REREG_MR_ERR_INPUT;
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                        int access)
{
    static const char name[] = "ibv_reg_dmabuf_mr", advice[] = "memory of another device is not checkpointed";
    if (fd < 0) /* a probe: UCX and NCCL ask so, and go on without */
        interposer_lacks(name, advice);
    else
        interposer_refuse(name, advice);
    return NULL;
}

static const char shared[] = "objects shared between processes cannot be checkpointed";

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
    interposer_refuse("ibv_import_pd", shared);
    return NULL;
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
    interposer_refuse("ibv_unimport_pd", shared);
}

EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    interposer_refuse("ibv_import_mr", shared);
    return NULL;
}

EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
    interposer_refuse("ibv_unimport_mr", shared);
}

EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
    interposer_refuse("ibv_import_dm", shared);
    return NULL;
}

EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
    interposer_refuse("ibv_unimport_dm", shared);
}
