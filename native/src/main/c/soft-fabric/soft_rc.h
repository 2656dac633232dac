/* Reliable connections: a requester that numbers packets and sends them again until they are taken, and a
 * responder that takes each number once and in order (InfiniBand Architecture 1.2.1, section 9.7). Unreliable
 * ones have the same packets, and what is theirs alone is in soft_uc.c.
 *
 * Packet sequence numbers are 24 bits on the wire and count on in 64 bits here, so that they can be
 * compared. rc->lock is taken after cq->receive_lock, context->lock and context->connections_lock, before rq->lock. */
#pragma once
#include "soft_rc_wire.h"
#include "soft_types.h"

enum {
    SOFT_RC_WINDOW = 64,       /* packets under way */
    SOFT_RC_READ_PACKETS = 16, /* that one read request asks for */
    SOFT_RC_ATOMICS = 64,      /* answers kept, more than a requester may have under way */
    SOFT_RC_RD_ATOMIC = 16,    /* reads and atomics that a QP may have under way */
    SOFT_RC_RECEIVE_BATCH = 8,
};

#define SOFT_RC_MAX_MESSAGE (1u << 31)

struct soft_rc_wqe {
    uint64_t wr_id;
    uint64_t first, end; /* its packets' numbers */
    /* of a binding: where, how long, and the region; its first element names window and rights */
    uint64_t remote_address, compare_add, swap;
    uint32_t length, rkey;
    __be32 immediate;
    uint8_t opcode; /* enum ibv_wr_opcode */
    uint8_t num_sge;
    bool is_inline, signaled, fence, solicited;
    bool started; /* a read or atomic that counts in rc->reading */
};

enum soft_rc_service { SOFT_RC, SOFT_UC, SOFT_XRC_INITIATOR, SOFT_XRC_TARGET };

struct soft_rc {
    struct soft_lock lock;
    struct soft_qp *qp;

    enum soft_rc_service service;

    /* The send queue; empty slots are behind `tail`, `cursor` is the next to be sent. Its size is 0 of an unreliable
     * one, which has none, and of an XRC initiator, whose requests come by soft_xrc.c. */
    uint32_t size, mask, head, tail, cursor, max_sge, max_inline;
    struct soft_rc_wqe *wqe;
    struct ibv_sge *sge;
    char *inline_data;

    /* The requester: packets before `una` are done, before `next` under way, before `assigned` wanted.
     * `sent` is the furthest `next` ever was. */
    uint64_t una, next, sent, assigned;
    unsigned reading; /* reads and atomics under way */
    bool probing;     /* a timeout: one packet at a time until there is an answer */
    bool held;        /* nothing new is sent (before a checkpoint), but what is under way is finished */
    uint64_t progress_at, retry_at, retry_after; /* ns */
    uint64_t receiver_ready_at;                  /* 0, or when to try a receiver that was not ready */
    unsigned rnr_left;
    uint64_t went_back_from, went_back_at;

    /* The responder. */
    uint64_t expected;
    bool established, has_receive, ack_due, nak_due;
    /* in the error state, because of the request numbered `expected`: it is told so again when it is sent again */
    bool has_refused;
    uint8_t refusal;              /* enum soft_rc_nak */
    struct soft_recv_wqe receive; /* the one that the present message fills */
    struct ibv_sge receive_sge[SOFT_MAX_SGE];
    uint64_t received; /* bytes of the present message */
    uint32_t unlooked; /* unreliable: packets sent since it was looked at what has arrived */
    bool in_message;   /* unreliable: one has begun, and none of its packets is missing */
    struct soft_rc_answers {
        struct {
            uint64_t psn, value;
        } last[SOFT_RC_ATOMICS];
        unsigned next;
    } atomics;

    /* The connection. */
    uint32_t mtu, peer; /* peer and peer_lid are what completions call it: a layer above can give it other names */
    uint16_t peer_lid;
    struct sockaddr_in to;
    struct soft_rc_wire header; /* the constant fields of each packet */

    unsigned polls, polls_seen; /* hints: whether somebody polls, so that the engine need not */
    struct soft_rc *engine_next, *engine_previous;
    struct soft_rc *neighbour, *next_staged; /* soft_rc_order.c */
    struct soft_rc_stage *stage;
    bool brought; /* soft_rc_receive.c */
    /* soft_rc_watch.c: packets that are left to a program. */
    uint64_t look_again_at; /* ns */
    uint64_t grace;         /* ns */
    struct soft_rc *left_next;

    /* Where a message goes: what is the queue pair's own, and for an XRC target, while it takes a packet, the shared
     * queue's (soft_xrc.c). */
    struct soft_rq *rq;
    struct soft_srq *srq;
    struct soft_cq *recv_cq;
    struct ibv_pd *pd;
    uint32_t srq_number;   /* the shared queue that `receive` is of */
    uint32_t *srq_numbers; /* of an initiator: those that the send queue's requests are for; else NULL */
};

static inline struct soft_rc_wqe *soft_rc_at(const struct soft_rc *rc, uint32_t index)
{
    return &rc->wqe[index & rc->mask];
}

static inline struct ibv_sge *soft_rc_sges(const struct soft_rc *rc, uint32_t index)
{
    return &rc->sge[(index & rc->mask) * rc->max_sge];
}

static inline char *soft_rc_inline(const struct soft_rc *rc, uint32_t index)
{
    return &rc->inline_data[(size_t)(index & rc->mask) * rc->max_inline];
}

/* A program's thread may be changing it. */
static inline enum ibv_qp_state soft_rc_state(const struct soft_rc *rc)
{
    return __atomic_load_n(&rc->qp->base.state, __ATOMIC_ACQUIRE);
}

/* Whether arriving packets mean anything. */
static inline bool soft_rc_listens(const struct soft_rc *rc)
{
    enum ibv_qp_state state = soft_rc_state(rc);
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQE ||
           (state == IBV_QPS_ERR && __atomic_load_n(&rc->has_refused, __ATOMIC_RELAXED));
}

static inline bool soft_rc_is_read(const struct soft_rc_wqe *wqe)
{
    return wqe->opcode == IBV_WR_RDMA_READ || wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
           wqe->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Whether a request is carried out here, without the peer. */
static inline bool soft_rc_is_local(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_LOCAL_INV;
}

/* The 64-bit number nearest to `near` whose low 24 bits are these. */
static inline uint64_t soft_rc_psn(uint64_t near, uint32_t wire)
{
    int32_t distance = (int32_t)((wire - (uint32_t)near) << 8) >> 8;
    return near + (uint64_t)(int64_t)distance;
}

/* soft_rc_qp.c */
int soft_rc_create(struct soft_qp *qp); /* 0 or an errno */
void soft_rc_free(struct soft_qp *qp);  /* memory alone */
/* Signs the header of its packets, as its port's state allows; `lock` is held. */
void soft_rc_sign(struct soft_rc *rc);
int soft_rc_ready_to_receive(struct soft_qp *qp);
void soft_rc_ready_to_send(struct soft_qp *qp);
void soft_rc_reset(struct soft_qp *qp);
void soft_rc_fail(struct soft_qp *qp);
/* With rc->lock held: to the error state; what is posted is flushed in order. */
void soft_rc_fail_locked(struct soft_rc *rc);
void soft_rc_event(struct soft_rc *rc, enum ibv_event_type type);

/* soft_rc_post.c */
int soft_rc_post_send(struct soft_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_rc_refuse_opcode(enum ibv_wr_opcode opcode); /* by name; returns the errno */

/* soft_rc_packet.c */
uint64_t soft_rc_now(void); /* ns */
/* Sends a header and `count` - 1 pieces in iov[1..]; 0, or EFAULT when the pieces cannot be read. */
int soft_rc_transmit(struct soft_rc *rc, struct soft_rc_wire *header, struct iovec *iov, unsigned count);
/* `length` bytes from `offset` on of what these elements name, as pieces; -1 when memory is not registered. */
int soft_rc_gather(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset, uint32_t length,
                   struct iovec *iov);
/* 0, IBV_WC_LOC_LEN_ERR or IBV_WC_LOC_PROT_ERR. */
enum ibv_wc_status soft_rc_scatter(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset,
                                   const char *from, uint32_t length);

/* soft_rc_requester.c; all with rc->lock held. */
void soft_rc_pump(struct soft_rc *rc); /* sends what may be sent */
void soft_rc_go_back(struct soft_rc *rc);
void soft_rc_answered(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length);
void soft_rc_complete_head(struct soft_rc *rc, enum ibv_wc_status status);
void soft_rc_send_failed(struct soft_rc *rc, enum ibv_wc_status status); /* the oldest one, and the QP with it */
void soft_rc_tick(struct soft_rc *rc, uint64_t now);

/* soft_rc_responder.c; with rc->lock held. */
void soft_rc_requested(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length);
/* For a request that names a receiver that does not exist: it waits for its turn as others do, then ends the
 * connection. */
void soft_rc_requested_of_nobody(struct soft_rc *rc, const struct soft_rc_wire *header);
void soft_rc_acknowledge(struct soft_rc *rc); /* what the last packets made due */
/* the next posted one becomes rc->receive, if there is none; false when none is posted */
bool soft_rc_draw_receive(struct soft_rc *rc);
void soft_rc_complete_receive(struct soft_rc *rc, const struct soft_rc_wire *header, enum ibv_wc_status status,
                              enum ibv_wc_opcode opcode, uint32_t length);
void soft_rc_write_memory(char *to, const char *from, uint32_t length);
void soft_rc_establish(struct soft_rc *rc); /* at each packet: the first one is an event */

/* soft_uc.c; with rc->lock held. */
/* 0, or an errno with *at at the request that is refused */
int soft_uc_post_send(struct soft_rc *rc, struct ibv_send_wr **at);
void soft_uc_arrived(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length);

/* soft_rc_receive.c */
/* soft_qp.receive; makes none itself */
int soft_rc_receive(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited);
/* Some packets, `most` times at the most; with rc->lock held. Whether they brought anything that a program can see:
 * answers to its own requests that say no more than that they were taken do not. */
bool soft_rc_take_rounds(struct soft_rc *rc, int most);
/* Before a program gives a connection up: a device has taken what arrived until then, so that a request that was
 * answered for has succeeded and is not flushed. Of a connection that is not locked. */
void soft_rc_take_last(struct soft_qp *qp);

/* soft_rc_order.c: of a connection that is not locked. */
void soft_rc_order_add(struct soft_rc *rc);
void soft_rc_order_remove(struct soft_rc *rc);
void soft_rc_take_others(struct soft_rc *rc); /* it has brought something: what came before, for others */
/* For the engine, beside which the program polls: as many packets, whose completions are told when the others have
 * been looked at. False when somebody else has it locked. */
bool soft_rc_take_staged(struct soft_rc *rc, int rounds);
/* A completion of a connection that is locked. */
void soft_rc_push(struct soft_rc *rc, struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);

/* soft_rc_engine.c: the thread that answers and retransmits when nobody polls. */
int soft_rc_engine_add(struct soft_rc *rc);
void soft_rc_engine_remove(struct soft_rc *rc);
void soft_rc_engine_leave(struct soft_context *context); /* with all its QPs */
int soft_rc_engine_fds(int fds[2]);                      /* 0 or 2 */
void soft_rc_engine_forget(void);                        /* after a restart: its descriptors are gone */
void soft_rc_engine_park(int parked);                    /* returns when it does nothing any more */
void soft_rc_engine_pass(void);                          /* returns when it is done with what it was at */

/* soft_rc_hold.c: before a checkpoint (verbs_device.h). */
void soft_rc_hold(struct ibv_context *context, int on);
int soft_rc_is_settled(struct ibv_qp *qp, unsigned *queued);

/* State of a connection for its next incarnation (verbs_device.h). */
struct soft_rc_memory {
    uint64_t unfinished; /* the first packet of the oldest request that has not completed */
    uint64_t expected;
    bool established; /* the program was told so */
    struct soft_rc_answers atomics;
};
void soft_rc_save(const struct ibv_qp *qp, void *memory);
void soft_rc_restore(struct ibv_qp *qp, const void *memory);
