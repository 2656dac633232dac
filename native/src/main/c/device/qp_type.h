/* Names of queue pair types, for messages. */
#ifndef QP_TYPE_H
#define QP_TYPE_H
#include <infiniband/verbs.h>

static inline const char *qp_type_name(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_RC:
        return "RC";
    case IBV_QPT_UC:
        return "UC";
    case IBV_QPT_UD:
        return "UD";
    case IBV_QPT_RAW_PACKET:
        return "raw packet";
    case IBV_QPT_XRC_SEND:
        return "XRC send";
    case IBV_QPT_XRC_RECV:
        return "XRC receive";
    case IBV_QPT_DRIVER:
        return "driver-specific";
    }
    return "unknown";
}

/* Whether it has one peer for the whole of its life, rather than one for each request. */
static inline int qp_is_connected(enum ibv_qp_type type)
{
    return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

#endif
