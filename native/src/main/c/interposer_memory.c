/* Protection domains and memory regions. */
#include "interposer.h"
#include "real_library.h"

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    return MAKE(alloc_pd, context);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    return CALL(dealloc_pd, pd);
}

/* The optional ones (relaxed ordering, huge pages) are the device's to take or leave. */
static int refuse_access(unsigned access)
{
    if (real_inside)
        return 0;
    if (access & IBV_ACCESS_ON_DEMAND)
        return interposer_refuse("ibv_reg_mr with IBV_ACCESS_ON_DEMAND", "on-demand paging is not checkpointed; register the memory as usual");
    return 0;
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
    if (refuse_access((unsigned) access))
        return NULL;
    return MAKE(reg_mr, pd, addr, length, iova, access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    if (refuse_access((unsigned) access))
        return NULL;
    return MAKE(reg_mr, pd, addr, length, iova, (unsigned) access);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    if (refuse_access((unsigned) access))
        return NULL;
    return MAKE(reg_mr, pd, addr, length, (uintptr_t) addr, (unsigned) access);
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

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    interposer_refuse("ibv_reg_dmabuf_mr", "memory of another device is not checkpointed");
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
