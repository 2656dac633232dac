/* A verbs device as a const table of operations, with libibverbs' own signatures and error rules.
 *
 * The tables are stacked: the exported ibv_* functions (interposer.c) call top_device(), which is
 * the virtual device (ud-virt) over the lower device (the soft fabric), or the bare lower device when
 * UDCKPT_VIRTUALIZE=0. A NULL operation means EOPNOTSUPP: the interposer refuses it by name, once.
 *
 * poll_cq, req_notify_cq, post_send, post_recv and post_srq_recv are also put into context->ops by
 * the top layer, because libibverbs' inline functions call them there. */
#pragma once
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* What a device is told before it is opened; comes from the environment in a job's first incarnation and
 * from MSG_REBUILD afterwards. */
struct device_config {
    uint16_t lid;                 /* of this simulated host */
    uint16_t lids;                /* how many from that one on are its own; 0 is 1 */
    uint32_t qpn_first, qpn_last; /* QPNs to hand out, inclusive; 0,0 = any */
};

/* What a memory window is bound to. */
struct window_binding {
    uint32_t rkey, bound; /* the last key that it had, and whether it is bound by that one */
    uint32_t mr_key, access, qpn;
    uint64_t address, length;
};

struct udckpt_owned_range;

struct verbs_device {
    const char *kind; /* "soft", "real", "virtual" */
    int extends;      /* its queue pairs and completion queues begin as extended.h says */
    int (*configure)(const struct device_config *config);
    /* Optional, before devices are opened in each incarnation of the job: 16 secret bytes of this incarnation,
     * the same for all its processes. A device without protection of its own authenticates their datagrams with them.
     * NULL: there are none. */
    void (*set_key)(const uint8_t *key);

    struct ibv_device **(*get_device_list)(int *count);
    void (*free_device_list)(struct ibv_device **list);
    struct ibv_context *(*open_device)(struct ibv_device *device);
    int (*close_device)(struct ibv_context *context);
    int (*query_device)(struct ibv_context *, struct ibv_device_attr *);
    int (*query_port)(struct ibv_context *, uint8_t port, struct ibv_port_attr *, size_t attr_size);
    int (*query_gid)(struct ibv_context *, uint8_t port, int index, union ibv_gid *);
    /* Optional, where not every GID is an InfiniBand one: its type with it. Returns 0 or an errno, ENODATA for an
     * empty one. */
    int (*query_gid_entry)(struct ibv_context *, uint32_t port, uint32_t index, struct ibv_gid_entry *);
    int (*query_pkey)(struct ibv_context *, uint8_t port, int index, __be16 *);
    int (*get_async_event)(struct ibv_context *, struct ibv_async_event *);
    void (*ack_async_event)(struct ibv_async_event *);

    struct ibv_pd *(*alloc_pd)(struct ibv_context *);
    int (*dealloc_pd)(struct ibv_pd *);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *addr, size_t length, uint64_t iova, unsigned access);
    int (*dereg_mr)(struct ibv_mr *);
    /* As in a context's ops: libibverbs' inline functions call them there. bind_mw (type 1) is optional: else by
     * IBV_WR_BIND_MW. */
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *, enum ibv_mw_type type);
    int (*dealloc_mw)(struct ibv_mw *);
    int (*bind_mw)(struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *);

    struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *);
    int (*destroy_comp_channel)(struct ibv_comp_channel *);
    struct ibv_cq *(*create_cq)(struct ibv_context *, int cqe, void *cq_context, struct ibv_comp_channel *, int vector);
    int (*resize_cq)(struct ibv_cq *, int cqe);
    int (*destroy_cq)(struct ibv_cq *);
    int (*get_cq_event)(struct ibv_comp_channel *, struct ibv_cq **, void **cq_context);
    void (*ack_cq_events)(struct ibv_cq *, unsigned count);
    int (*poll_cq)(struct ibv_cq *, int count, struct ibv_wc *);
    int (*req_notify_cq)(struct ibv_cq *, int solicited_only);

    struct ibv_srq *(*create_srq)(struct ibv_pd *, struct ibv_srq_init_attr *);
    int (*modify_srq)(struct ibv_srq *, struct ibv_srq_attr *, int mask);
    int (*query_srq)(struct ibv_srq *, struct ibv_srq_attr *);
    int (*destroy_srq)(struct ibv_srq *);
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);

    /* Optional: XRC. A domain is a protection domain that a queue pair of type XRC_RECV is made in, whose messages go
     * to the shared queues that were made for it. Such a queue has the number that is asked for, in every incarnation,
     * which no other one of the context may have; 0: any. */
    struct ibv_srq *(*create_xrc_srq)(struct ibv_pd *, struct ibv_srq_init_attr *, struct ibv_pd *domain,
                                      struct ibv_cq *, uint32_t number);
    int (*srq_number)(struct ibv_srq *, uint32_t *number); /* 0, or EINVAL for another one */

    struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
    int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int mask);
    int (*query_qp)(struct ibv_qp *, struct ibv_qp_attr *, int mask, struct ibv_qp_init_attr *);
    int (*destroy_qp)(struct ibv_qp *);
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);

    struct ibv_ah *(*create_ah)(struct ibv_pd *, struct ibv_ah_attr *);
    int (*destroy_ah)(struct ibv_ah *);
    int (*attach_mcast)(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
    int (*detach_mcast)(struct ibv_qp *, const union ibv_gid *, uint16_t lid);

    /* Checkpoint support, with the gate closed. owned_fds lists every descriptor that the open context holds in this
     * process (they are not part of an image); returns how many there are, writes at most max.
     * owned_ranges (optional) does the same for mappings of all contexts; -1 when they cannot be told.
     * forget frees the memory of a context and of all its objects after a restart, when the
     * descriptors are already gone; it must not close or touch a descriptor. */
    int (*owned_fds)(struct ibv_context *, int *fds, int max);
    int (*owned_ranges)(struct udckpt_owned_range *ranges, int max);
    void (*forget)(struct ibv_context *);
    /* Optional, for reliable connections around a snapshot. hold: what a queue pair has begun it finishes, nothing new
     * is begun. is_settled: nothing of this one is under way; *queued: how many requests wait in its send queue. park:
     * the device does nothing by itself any more, in no context, until it is undone (so the image holds no such thread
     * at work). */
    void (*hold)(struct ibv_context *, int on);
    int (*is_settled)(struct ibv_qp *, unsigned *queued);
    void (*park)(int on);
    /* Optional: what a connected queue pair remembers of its packets, as plain memory of connection_bytes. A queue
     * pair of a later incarnation that gets this memory back, at both ends, executes no request twice whose answer was
     * under way when the snapshot was taken. */
    size_t connection_bytes;
    void (*save_connection)(const struct ibv_qp *, void *memory);
    void (*restore_connection)(struct ibv_qp *, const void *memory);
    /* Optional: makes the queue what an overflow makes of it, without an event; for one that overflowed in an
     * earlier incarnation. */
    void (*fail_cq)(struct ibv_cq *);
};

extern const struct verbs_device soft_device;    /* soft-fabric/ */
extern const struct verbs_device real_device;    /* real-device/ */
extern const struct verbs_device virtual_device; /* ud-virt/src/main/c */

/* The table that the exported functions call; chosen once, at load. */
const struct verbs_device *top_device(void);
/* Whether the soft fabric is below it. Chooses nothing, allocates nothing and locks nothing, but where UDCKPT_DEVICE
 * is auto. */
int top_is_soft(void);

/* What the virtual layer calls: the device beneath it, of this incarnation (lower_device.c). Set before the first
 * operation; only a restart changes it, with the gate closed. */
extern const struct verbs_device *lower_device __attribute__((visibility("hidden")));
/* By UDCKPT_DEVICE. */
void lower_device_choose(void);
