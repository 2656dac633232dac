/* What librdmacm offers and this does not: said by name. */
#include "cm.h"

EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    return cm_refuse("rdma_set_local_ece",
                     "enhanced connection establishment depends on the vendor, which a restart may change");
}

EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    return cm_refuse("rdma_get_remote_ece",
                     "enhanced connection establishment depends on the vendor, which a restart may change");
}

EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t length)
{
    return cm_refuse("rdma_reject_ece", "use rdma_reject");
}

/* rsockets are built on librdmacm's inner functions, which know no id of ours. All of them begin here, so nothing else
 * of them needs a refusal; librspreload.so takes the kernel's socket then. */
EXPORT int rsocket(int domain, int type, int protocol)
{
    return cm_refuse("rsocket", "use the kernel's sockets: a program runs on them without librspreload.so");
}
