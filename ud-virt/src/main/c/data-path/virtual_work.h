/* The records of posted requests, kept while a device has them, so that a restart can post them again. */
#pragma once
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* A posted work request; its address is the real wr_id. Its state is WORK_FREE, or the bit of its ring. A request that
 * is not of one element has WORK_COUNTED and their number (below 2^16) beside that. */
#define WORK_FREE 0u
#define WORK_COUNTED 0x10000000u
#define WORK_RECEIVE 0x20000000u
#define WORK_SEND 0x40000000u
struct work {
    uint64_t wr_id;
    uint32_t number; /* of its queue pair, and what is below */
    uint32_t state;
};

/* A record's number is ordered by what a poller meets most, so that it needs one comparison with each: above 0 it is
 * that of a receive of datagrams by a queue pair with receives of its own, then come the receives of a connection,
 * then all others. */
#define NUMBER_MASK 0xffffffu
#define NUMBER_OTHER 0x80000000u         /* but a receive of datagrams */
#define NUMBER_OF_CONNECTION 0x40000000u /* whose completions name no source */
/* a connection's receive: this and above, as signed numbers */
#define NUMBER_RECEIVED (NUMBER_OTHER | NUMBER_OF_CONNECTION | 0x20000000u)
#define NUMBER_OF_SHARED NUMBER_OTHER /* a shared queue's receive: the completion tells the queue pair */
/* Only in virtual_number_of(): its port, less one. */
#define NUMBER_PORT_SHIFT 24
#define NUMBER_PORT_MASK 7u

/* Makes a free slot the caller's; 0: it was not free. The number that a poster drew does not make the slot its
 * own: while it is held up between the two, others may come round the ring to the same slot. All that are taken in
 * one ring have the same bit, so a test-and-set of it does what a compare-and-swap would, in two instructions
 * instead of four. */
static inline __attribute__((always_inline)) int claim_work(struct work *work, uint32_t bit)
{
    return __builtin_expect(!(__atomic_fetch_or(&work->state, bit, __ATOMIC_ACQUIRE) & bit), 1);
}

static inline void free_work(struct work *work)
{
    __atomic_store_n(&work->state, WORK_FREE, __ATOMIC_RELEASE);
}

/* Notes the pieces of a slot that the caller has taken; `bit` is its ring's. */
static inline void count_pieces(struct work *work, uint32_t bit, int pieces)
{
    if (pieces != 1)
        __atomic_store_n(&work->state, bit | WORK_COUNTED | (uint16_t)pieces, __ATOMIC_RELAXED);
}

static inline uint32_t pieces_of(uint32_t state)
{
    return state & WORK_COUNTED ? (uint16_t)state : 1;
}

/* A receive and the device's form of it, made once for one element, so that a post fills in the element only. Another
 * one is given to the device as a copy of it. */
struct receive_work {
    struct ibv_recv_wr posted; /* sg_list: sges; the first member, so that its address is the slot's */
    struct work work;
    struct ibv_sge sges[]; /* with the keys of this incarnation */
};

/* A connection's posted send, recorded until it has completed, in the device's own form. As of a receive, what is the
 * same for every request of one element is in `posted` from the beginning. */
struct request_work {
    struct ibv_send_wr posted; /* sg_list: sges; the first member, so that its address is the slot's */
    struct work work;
    uint32_t atomic_rkey;  /* the job's: `posted` has the one of this incarnation */
    unsigned flags;        /* the job's: the device is asked to signal each */
    unsigned always;       /* of the queue pair: IBV_SEND_SIGNALED when it signals all */
    struct ibv_sge sges[]; /* with the keys of this incarnation; behind them inline data */
};

/* The job did not ask for the completion of this send. */
static inline int is_quiet(const struct request_work *request)
{
    return !((request->flags | request->always) & IBV_SEND_SIGNALED);
}

/* Records of a queue pair or a shared queue; no works on the fused path. Places are counted in bytes, and both the
 * stride and the whole are powers of two, so that a place is found by an addition and a mask. */
struct work_ring {
    char *works;
    uint32_t head, mask, stride, max_sges;
};

static inline struct receive_work *receive_at(const struct work_ring *ring, uint32_t place)
{
    return (struct receive_work *)(ring->works + (place & ring->mask));
}

/* In the order of posting. */
static inline struct request_work *request_at(const struct work_ring *requests, uint32_t place)
{
    return (struct request_work *)(requests->works + (place & requests->mask));
}

/* The next slot, which may be taken still: claim_work(). */
static inline void *draw_slot(struct work_ring *ring)
{
    uintptr_t place = __atomic_fetch_add(&ring->head, ring->stride, __ATOMIC_RELAXED) & ring->mask;
    return (void *)(place + (uintptr_t)ring->works);
}
