/* What librdmacm offers and this does not: said by name. */
#include "cm.h"

EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
    return cm_refuse("rdma_join_multicast", "use ibv_attach_mcast");
}

EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attributes, void *context)
{
    return cm_refuse("rdma_join_multicast_ex", "use ibv_attach_mcast");
}

EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *address)
{
    return cm_refuse("rdma_leave_multicast", "use ibv_detach_mcast");
}

EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    return cm_refuse("rdma_set_local_ece", "enhanced connection establishment is the vendor's, which a restart may change");
}

EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    return cm_refuse("rdma_get_remote_ece", "enhanced connection establishment is the vendor's, which a restart may change");
}

EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t length)
{
    return cm_refuse("rdma_reject_ece", "use rdma_reject");
}
