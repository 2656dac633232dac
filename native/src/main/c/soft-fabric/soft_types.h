/* The objects of the soft fabric. Each starts with libibverbs' own structure, so that a pointer to
 * one is a pointer to the other.
 *
 * Locks, in the order in which they may be taken: cq->receive_lock, context->xrc_lock, rq->lock, cq->ring_lock,
 * channel->lock; context->lock is taken before rq->lock and never with a receive lock held. */
#pragma once
#define _GNU_SOURCE
#include "soft_config.h"
#include "soft_lock.h"
#include "soft_wire.h"
#include "device/extended.h"
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SOFT_BATCH 16   /* datagrams per system call */
#define SOFT_MAX_SGE 16 /* scatter/gather elements per work request */
#define SOFT_MAX_WR 16384
#define SOFT_MAX_CQE (1 << 22)
#define SOFT_MAX_INLINE 1024
#define SOFT_LOOK_MOST 256 /* completions of sends between two looks for datagrams */
#define SOFT_IDLE_POLLS 16 /* empty polls between two offers of the processor */

/* One aligned word that another thread may set meanwhile, on a hot path: the same load on x86 either way, but gcc does
 * not fold an atomic one into the instruction that uses it, so only the build that checks it says so. */
#ifdef __SANITIZE_THREAD__
#define SOFT_LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#else
#define SOFT_LOAD(field) (field)
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define container_of(pointer, type, field) ((type *)((char *)(pointer)-offsetof(type, field)))

enum soft_kind { SOFT_PD, SOFT_MR, SOFT_AH, SOFT_CHANNEL, SOFT_CQ, SOFT_SRQ, SOFT_QP, SOFT_GROUP, SOFT_MW };

/* Every object is in its context's list, so that a context can be counted, closed and forgotten. */
struct soft_object {
    struct soft_object *previous, *next;
    enum soft_kind kind;
};

struct soft_async {
    struct ibv_async_event event;
    struct soft_async *next;
};

struct soft_mr_slot;

/* Why a datagram or packet was not taken. */
enum soft_refusal {
    SOFT_FROM_ELSEWHERE, /* than its header says */
    SOFT_WRONG_TAG,
    SOFT_REPLAYED, /* or so late that it cannot be told from one */
    SOFT_STRANGER, /* no process of the job is there: a layer above says so */
    SOFT_REFUSALS
};

struct soft_context {
    struct verbs_context verbs; /* verbs.context is what the caller holds */
    struct soft_config config;  /* as it was when the device was opened, with the device's own LID */
    struct soft_lock lock;      /* objects */
    struct soft_object objects; /* head of a ring */
    atomic_uint ports_down;     /* bit P: port P; soft_trouble.h */
    atomic_bool gone;           /* the device was taken away */
    struct soft_context *next_opened;
    atomic_bool cq_failed;    /* some CQ overflowed and its QPs have yet to be put in error */
    void (*cq_failing)(void); /* tells a layer above, which has no look at cq_failed in its paths; or NULL */
    /* tells it of each datagram that is not taken; or NULL */
    void (*refused)(enum soft_refusal, uint16_t lid, uint32_t qpn);
    struct soft_lock async_lock;
    struct soft_async *async_first, **async_last;
    struct soft_lock mr_lock;
    struct soft_mr_slot **mr_chunks;
    uint32_t mr_next, mr_free;
    atomic_uint windows;         /* memory windows that there are */
    struct soft_lock xrc_lock;   /* taken after a connection's lock, and before a receive queue's */
    struct soft_srq *xrc_queues; /* soft_xrc.c: changed with xrc_members, too, which is taken before any receive lock */
    struct soft_lock xrc_members;
    struct soft_qp *xrc_targets; /* guarded by xrc_members */
    uint32_t last_queue_number;
    struct soft_lock connections_lock;
    struct soft_rc *connections; /* a ring; soft_rc_order.c */
    unsigned connection_count;
    uint32_t ordinal; /* QPs made so far: names each QP's random stream */
};

struct soft_pd {
    struct ibv_pd base;
    struct soft_object object;
    atomic_int users;
};

struct soft_ah {
    struct ibv_ah base;
    struct soft_object object;
    struct sockaddr_in address; /* without the port, which is the QPN */
    struct ibv_ah_attr attr;
};

struct soft_cq;

struct soft_channel {
    struct ibv_comp_channel base; /* base.fd is an epoll descriptor */
    struct soft_object object;
    int event_fd; /* readable while `first` is not NULL */
    struct soft_lock lock;
    struct soft_cq *first, **last; /* CQs with undelivered events */
    struct soft_cq *members;
};

enum soft_armed { SOFT_UNARMED, SOFT_ARMED_SOLICITED, SOFT_ARMED_ANY };

struct soft_qp;

struct soft_cq {
    union {
        struct ibv_cq base;
        struct extended_cq extended;
    };
    struct soft_object object;
    struct soft_lock ring_lock;
    struct ibv_wc *ring; /* completions that were made outside poll_cq */
    uint32_t mask, head, tail;
    uint32_t look_at, look_distance; /* a push at this tail sees whether there is room, and for datagrams: soft_cq.c */
    atomic_bool failed;
    struct soft_lock receive_lock; /* receivers, and the right to receive for them */
    bool receives_into_ring;       /* guarded by it: soft_receive_failed() */
    struct soft_qp **receivers;    /* QPs whose receive CQ this is */
    unsigned receiver_count, receiver_room, receiver_first;
    unsigned idle_polls; /* a hint: counted without a lock */
    atomic_int armed;    /* enum soft_armed */
    atomic_int users;    /* QPs attached */
    atomic_int visitors; /* threads that handle an arrival */
    /* Below: guarded by the channel's lock. */
    struct soft_cq *event_next, *member_next;
    unsigned events_pending;
    unsigned events_delivered; /* guarded by base.mutex */
    unsigned async_delivered;
};

struct soft_recv_wqe {
    uint64_t wr_id;
    int num_sge;
};

/* A receive queue: a QP's own, or a shared one. The first work requests are kept ready for
 * recvmmsg in a window, so that an empty poll does nothing but the system call. */
struct soft_rq {
    struct soft_lock lock;
    uint32_t size, mask, head, tail, max_sge;
    struct soft_recv_wqe *wqe;
    struct ibv_sge *sge; /* max_sge for each wqe */
    struct ibv_pd *pd;
    unsigned window_first, window_count;
    uint32_t window_bad; /* bit i: slot i names memory that is not registered */
    struct mmsghdr message[SOFT_BATCH];
    struct soft_head {
        struct soft_wire wire;
        struct soft_tag tag; /* where there are tags */
        uint64_t unused;
    } header[SOFT_BATCH];
    uint32_t header_bytes; /* of what lies before the payload */
    struct iovec *iov;     /* 1 + max_sge for each slot */
};

struct soft_srq {
    struct ibv_srq base;
    struct soft_object object;
    struct soft_rq rq;
    uint32_t limit; /* armed low-water mark, 0 = not armed */
    struct soft_qp *members;
    unsigned events_delivered;
    /* Used by XRC shared receive queues: soft_xrc.c. */
    struct ibv_pd *domain; /* NULL: no XRC queue */
    struct soft_cq *cq;
    uint32_t number;
    struct soft_srq *next;
};

struct soft_faults;
struct soft_replay;
struct soft_rc;
struct soft_group;

struct soft_qp {
    union {
        struct ibv_qp base;
        struct extended_qp extended;
    };
    struct soft_object object;
    struct soft_cq *send_cq, *recv_cq;
    struct soft_srq *srq;
    struct soft_rq *rq; /* own_rq or the SRQ's */
    int socket;
    /* of a queue pair at another port than the first, where it holds its number for the device; else -1 */
    int number_socket;
    uint16_t lid;                      /* of its port */
    int doorbell;                      /* second socket, woken by solicited sends; -1 without a channel */
    bool socket_armed, doorbell_armed; /* guarded by recv_cq->receive_lock */
    atomic_bool receives;              /* in a state in which datagrams are taken in */
    bool signal_all;
    struct ibv_qp_cap cap;
    struct ibv_qp_attr attr;
    uint32_t number; /* what completions call this QP: a layer above can give it another name than its address */
    int (*receive)(struct soft_qp *, int count, struct ibv_wc *, bool *solicited); /* soft_receive.h */
    struct soft_wire header;    /* the constant fields of each datagram sent */
    bool unusual;               /* what it sends has faults or tags */
    bool refuses;               /* its socket's filter drops what comes from elsewhere than it says: there were many */
    uint32_t from_elsewhere;    /* so many */
    atomic_uint_fast64_t sent;  /* the counter of its last tag */
    struct soft_replay *replay; /* counters of others' tags; guarded by rq->lock, of a connection by rc->lock */
    struct soft_faults *faults;
    struct soft_rc *rc; /* of a reliable connection; else NULL */
    struct soft_qp *srq_next, *target_next;
    /* instead, when it is in a group */
    int (*receive_grouped)(struct soft_qp *, int count, struct ibv_wc *, bool *solicited);
    struct soft_group *groups;      /* multicast; changed under receive_lock and rq->lock */
    const struct soft_group *group; /* whose datagrams are being taken in; NULL: the queue pair's own */
    unsigned events_delivered;
    struct soft_rq own_rq;
};

static inline struct soft_context *soft_context_of(struct ibv_context *context)
{
    return container_of(context, struct soft_context, verbs.context);
}
static inline bool soft_has_port(struct ibv_context *context, unsigned port)
{
    return port >= 1 && port <= soft_context_of(context)->config.ports;
}
static inline struct soft_cq *soft_cq_of(struct ibv_cq *cq)
{
    return (struct soft_cq *)cq;
}
/* A queue pair's state changes under its mutex, its receive queue's lock, or none (a send that failed). */
static inline enum ibv_qp_state soft_state(const struct ibv_qp *qp)
{
    return SOFT_LOAD(qp->state);
}
/* A layer above sets it when the queue pair's CQ may be polled already. */
static inline __typeof__(((struct soft_qp *)0)->receive) soft_receiver(const struct soft_qp *qp)
{
    return SOFT_LOAD(qp->receive);
}
static inline struct soft_qp *soft_qp_of(struct ibv_qp *qp)
{
    return (struct soft_qp *)qp;
}
static inline struct soft_srq *soft_srq_of(struct ibv_srq *srq)
{
    return (struct soft_srq *)srq;
}
static inline struct soft_ah *soft_ah_of(struct ibv_ah *ah)
{
    return (struct soft_ah *)ah;
}
static inline struct soft_pd *soft_pd_of(struct ibv_pd *pd)
{
    return (struct soft_pd *)pd;
}
static inline struct soft_channel *soft_channel_of(struct ibv_comp_channel *channel)
{
    return (struct soft_channel *)channel;
}
