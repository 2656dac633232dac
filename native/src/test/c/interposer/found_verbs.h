/* The verbs that found_client.c uses, by pointers that each of its variants finds in a way of its own. */
#pragma once
#include <infiniband/verbs.h>
#undef ibv_query_port
#undef ibv_reg_mr

/* What libibverbs exports of it, and since which version. */
#define FOUND_VERBS(X) \
    X(ibv_get_device_list, "IBVERBS_1.1") \
    X(ibv_free_device_list, "IBVERBS_1.1") \
    X(ibv_open_device, "IBVERBS_1.1") \
    X(ibv_close_device, "IBVERBS_1.1") \
    X(ibv_query_device, "IBVERBS_1.1") \
    X(ibv_query_port, "IBVERBS_1.1") \
    X(ibv_query_gid, "IBVERBS_1.1") \
    X(ibv_alloc_pd, "IBVERBS_1.1") \
    X(ibv_dealloc_pd, "IBVERBS_1.1") \
    X(ibv_reg_mr, "IBVERBS_1.1") \
    X(ibv_dereg_mr, "IBVERBS_1.1") \
    X(ibv_create_comp_channel, "IBVERBS_1.0") \
    X(ibv_destroy_comp_channel, "IBVERBS_1.0") \
    X(ibv_create_cq, "IBVERBS_1.1") \
    X(ibv_get_cq_event, "IBVERBS_1.1") \
    X(ibv_ack_cq_events, "IBVERBS_1.1") \
    X(ibv_destroy_cq, "IBVERBS_1.1") \
    X(ibv_create_qp, "IBVERBS_1.1") \
    X(ibv_modify_qp, "IBVERBS_1.1") \
    X(ibv_destroy_qp, "IBVERBS_1.1") \
    X(ibv_create_ah, "IBVERBS_1.1") \
    X(ibv_destroy_ah, "IBVERBS_1.1")

/* As the exported symbols are, which verbs.h hides behind macros. */
struct _compat_ibv_port_attr;
extern int ibv_query_port(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *);
extern struct ibv_mr *ibv_reg_mr(struct ibv_pd *, void *, size_t, int);

struct found_verbs {
#define X(name, version) __typeof__(&name) name;
    FOUND_VERBS(X)
#undef X
};

/* Sends datagrams to itself and looks at each that comes, until the file `finish` is there; says "iteration" when it
 * has begun, and returns how many there were. Ends the process when something is wrong. */
long found_exchange(const struct found_verbs *verbs, const char *finish);
