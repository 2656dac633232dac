/* The extended posting and polling interfaces (ibv_wr_post(3), ibv_create_cq_ex(3)) over a device's post_send and
 * poll_cq. The state is plain memory that hangs on the job's own objects, so it outlives restarts by itself.
 *
 * A device whose table says `extends` begins its queue pairs and completion queues with these structures. */
#pragma once
#include "verbs_device.h"
#include "soft-fabric/soft_lock.h"

struct wr_builder;

struct extended_qp {
    union {
        struct ibv_qp qp;
        struct ibv_qp_ex ex;
    };
    struct wr_builder *builder; /* NULL: not made for ibv_wr_* */
};

struct extended_cq {
    union {
        struct ibv_cq cq;
        struct ibv_cq_ex ex;
    };
    struct soft_lock lock; /* from start_poll to end_poll */
    struct ibv_wc wc;      /* the current completion */
};

/* Gives an opened context its extended operations. */
void extended_fill(struct ibv_context *context);
/* A builder for these operations (enum ibv_qp_create_send_ops_flags); 0 or an errno value. */
int extended_builder_make(struct ibv_qp *qp, const struct ibv_qp_cap *cap, uint64_t operations);
void extended_builder_free(struct wr_builder *builder);
struct ibv_qp *extended_create_qp(struct ibv_context *, struct ibv_qp_init_attr_ex *);
int extended_query_device(struct ibv_context *, const struct ibv_query_device_ex_input *, struct ibv_device_attr_ex *,
                          size_t size);
struct ibv_cq_ex *extended_create_cq(struct ibv_context *, struct ibv_cq_init_attr_ex *);
