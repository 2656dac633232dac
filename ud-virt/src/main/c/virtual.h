/* The virtual device: the objects that the job holds. Each starts with libibverbs' own struct, whose
 * address and numbers never change; `real` is the device's object of this incarnation. */
#pragma once
#include "virtual_list.h"
#include "data-path/virtual_work.h"
#include "device/extended.h"
#include "device/verbs_device.h"
#include "gate/gate.h"
#include "memory/virtual_keys.h"
#include <pthread.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    MAX_GIDS = 16,
    MAX_PORTS = 8,
    DEVICE_NAME = 64,
    ROUTES = 256,
    SOURCES = 256,
    CHUNK = 16,
    CHUNK_SGES = 128,
    FEW_SGES = 4
};

/* The kind of link of this process's ports. They are all of one kind, since LIDs and the numbers of RoCE hosts are not
 * told apart in the translation table; the ports of another kind are seen and cannot be used. */
struct v_link_kind {
    int known;
    int ethernet; /* RoCE: addresses are GIDs, and hosts have a number in the place of a LID (virtual_host.h) */
};
extern struct v_link_kind virtual_identity; /* what the job sees, for ever */
extern struct v_link_kind virtual_real;     /* in this incarnation */

/* A port of a device: what the job was told in the incarnation in which it first opened the device, and what it is
 * now. */
struct v_port {
    uint8_t number; /* from 1 */
    int usable;     /* of the kind of link that this process goes by */
    int ethernet;
    uint16_t lid, sm_lid; /* RoCE: the job sees LID 0; lid is the port's number */
    int gid_count;
    int gid_index; /* of the GID that stands for the port */
    union ibv_gid gids[MAX_GIDS];
    uint32_t gid_types[MAX_GIDS]; /* enum ibv_gid_type */
    struct {                      /* the device's port that it is on in this incarnation */
        uint8_t number;
        int active;
        uint16_t lid; /* or number */
        int gid_index;
        union ibv_gid gid;
    } now;
};

/* A device as the job sees it; every context of it has the same. */
struct v_identity {
    int known;
    /* among the process's devices: decides which device of a later incarnation it is on, and the numbers of RoCE
     * ports */
    unsigned place;
    unsigned real_place; /* of the one that it is on, among this incarnation's */
    unsigned port_count;
    struct v_port ports[MAX_PORTS];
    __be64 node_guid, sys_image_guid;
};

struct v_context {
    struct ibv_context *real;
    struct v_identity *identity;
    char device[DEVICE_NAME];
    int watching;                          /* the real async descriptor is in async_fd's epoll */
    int raise_fd;                          /* readable while `events` has any */
    unsigned ports_down;                   /* as the job was told: bit P - 1; guarded by virtual_mutex */
    int gone;                              /* the device of this incarnation was taken away */
    struct v_async *events, **events_last; /* of before a checkpoint; guarded by virtual_mutex */
    struct v_link link, pds, mrs, mws, channels, cqs, srqs, qps;
    int has_windows;            /* or has had: completions are looked at for what they say of them (virtual_window.h) */
    uint32_t last_queue_number; /* of shared receive queues for XRC; guarded by virtual_mutex */
    struct v_numbers *numbers;  /* real queue pair number to virtual one; virtual_number.c */
    struct verbs_context verbs; /* the job holds &verbs.context */
};

struct v_pd {
    struct ibv_pd pd;
    struct ibv_pd *real;
    struct v_link link;
    int users;                            /* of the job's objects: the real address handles are ours */
    struct real_ah *real_ahs;             /* shared, one per real destination */
    struct route *void_routes[MAX_PORTS]; /* where datagrams to unknown peers go, by port */
};

struct v_mr {
    struct ibv_mr mr;
    struct ibv_mr *real;
    struct v_link link;
    struct v_mr *next_key; /* in the bucket of its virtual key */
    uint64_t iova;
    unsigned access;
    uint32_t real_lkey;
};

struct v_channel {
    struct ibv_comp_channel channel; /* channel.fd: our epoll over the real descriptor and raise_fd */
    struct ibv_comp_channel *real;
    struct v_link link;
    int raise_fd; /* readable while an event is raised by us */
    int watching; /* the real descriptor is in the epoll */
};

struct v_cq {
    union {
        struct ibv_cq cq;
        struct extended_cq extended;
    };
    struct ibv_cq *real;
    int (*poll)(struct v_cq *, int count, struct ibv_wc *); /* generic_path.h */
    struct v_link link;
    uint32_t stash_count; /* completions of before the checkpoint, delivered first */
    uint32_t stash_next, stash_capacity;
    struct ibv_wc *stash;
    pthread_mutex_t stash_mutex;
    int vector, wanted;
    int armed;         /* req_notify_cq without an event since: 1 solicited only, 2 any */
    int raised;        /* events that get_cq_event takes before it asks the device */
    int told_of_stash; /* so long as the stash has any, it takes one more: virtual_raise_for_stash() */
    int failed;        /* overflowed in an earlier incarnation */
    int reserved;      /* room in the device's queue, for completions that the job did not ask for (rc_send.c) */
    uint32_t drained;  /* completions that the last drain took */
    uint32_t events_delivered, async_delivered;
};

struct v_rc;

struct v_srq {
    struct ibv_srq srq;
    struct ibv_srq *real;
    struct work_ring receives;
    struct v_link link;
    struct ibv_srq_init_attr wanted;
    struct kept_receives *kept; /* while an incarnation is rebuilt */
    /* of an XRC one, with its completion queue and its number, which is the same in all incarnations; else NULL */
    struct v_pd *domain;
    struct v_cq *cq;
    uint32_t number;
    uint32_t limit; /* as a checkpoint found it armed */
    uint32_t async_delivered;
};

struct v_qp {
    union {
        struct ibv_qp qp;
        struct extended_qp extended;
    };
    struct ibv_qp *real;
    int (*post_send)(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad); /* generic_path.h */
    int (*post_recv)(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
    struct work_ring receives;        /* none with a shared queue */
    struct work_ring requests;        /* of a connection: struct request_work */
    const uint32_t *peer_keys_differ; /* of a connection: never NULL */
    uint32_t send_head, send_mask;
    struct work *sends; /* ring of the signaled ones; none on the fused path */
    uint32_t async_delivered;
    const struct transport_ops *transport; /* of one that is connected; else NULL */
    struct v_rc *rc;                       /* the transport's own (rc-virt) */
    struct v_port *port;                   /* as INIT named it; the first one before */
    struct v_link link;
    struct ibv_qp_init_attr wanted;
    struct v_group *groups;        /* multicast; guarded by qp.mutex */
    int repeats_last;              /* rebuilt in the error state: the device tells the last request a second time */
    struct kept_receives *kept;    /* while an incarnation is rebuilt */
    struct ibv_qp_attr attributes; /* qkey, pkey_index, port_num, sq_psn as last set */
};

/* Where one virtual destination is now; never changed after it is published. */
struct route {
    uint32_t virtual_qpn, real_qpn;
    uint64_t epoch;
    uint64_t plain_qpn; /* of one that leads to where its name says, in a first incarnation; else no QPN */
    struct ibv_ah *real;
    struct route *next, *retired;
    uint32_t asked; /* unknown peers: how often it was wanted */
    /* of a request's handle and QPN, by exclusive or: the Q_Key above that stays */
    uint64_t change __attribute__((vector_size(16)));
    /* on the fused path: the device's form of the destination (fused_path.h) */
    uint64_t prepared[4];
};

struct v_ah {
    struct ibv_ah ah;
    struct ibv_ah_attr attributes; /* the virtual destination */
    struct v_link link;
    struct route *routes[ROUTES]; /* chains by QPN; never NULL */
};

extern struct v_link virtual_contexts, virtual_ahs;
extern pthread_mutex_t virtual_mutex; /* lists of objects; taken on creation and destruction only */
/* 0 in the first incarnation, in which every number is the device's. Else what is virtual has to be translated. */
extern int virtual_moved __attribute__((visibility("hidden")));

/* A relaxed load that the compiler may join with the instruction that uses it, as it does not with the built-in one. */
#ifdef __SANITIZE_THREAD__
#define LOOK_AT(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else
#define LOOK_AT(word) (word)
#endif

static inline int keys_differ(void)
{
    return LOOK_AT(virtual_keys_differ);
}

static inline struct v_context *context_of(struct ibv_context *context)
{
    return CONTAINER(struct v_context, verbs.context, context);
}

/* Whether the program has closed the device, and with it all that was open on it, before it destroys this: languages
 * that collect garbage do so in whatever order. What is left is memory. */
static inline int is_closed(struct ibv_context *context)
{
    return !context_of(context)->real;
}

/* NULL when the job's device has no such port, or it is of a kind of link that this process cannot use. */
static inline struct v_port *port_of(struct ibv_context *context, unsigned number)
{
    struct v_identity *identity = context_of(context)->identity;
    return number >= 1 && number <= identity->port_count && identity->ports[number - 1].usable
               ? &identity->ports[number - 1]
               : NULL;
}

/* The job may not free a protection domain that objects of its own are in (ibv_dealloc_pd(3)). */
static inline void pd_used(struct ibv_pd *pd, int change)
{
    __atomic_add_fetch(&((struct v_pd *)pd)->users, change, __ATOMIC_RELAXED);
}

static inline struct work *send_work(const struct v_qp *qp, uint32_t index)
{
    return &qp->sends[index & qp->send_mask];
}

/* A result that has been compared with 0, where it is: the compiler would make another 0. */
static inline __attribute__((always_inline)) int same(int result)
{
    __asm__("" : "+r"(result));
    return result;
}

/* virtual_context.c */
struct ibv_device **virtual_get_device_list(int *count);
void virtual_free_device_list(struct ibv_device **list);
struct ibv_context *virtual_open_device(struct ibv_device *device);
int virtual_close_device(struct ibv_context *context);
/* The device of this incarnation for the job's device at `place`, after a restart; which may be fewer than there
 * were. */
struct ibv_context *virtual_open_place(struct v_identity *identity);

/* virtual_query.c */
int virtual_learn_identity(struct v_context *context); /* 0 or an errno */
int virtual_learn_real(struct v_context *context);
void virtual_forget_void_routes(struct v_pd *pd); /* virtual_route.c */
int virtual_query_device(struct ibv_context *, struct ibv_device_attr *);
int virtual_query_port(struct ibv_context *, uint8_t port, struct ibv_port_attr *, size_t size);
int virtual_query_gid(struct ibv_context *, uint8_t port, int index, union ibv_gid *);
int virtual_query_gid_entry(struct ibv_context *, uint32_t port, uint32_t index, struct ibv_gid_entry *);
int virtual_query_pkey(struct ibv_context *, uint8_t port, int index, __be16 *);

/* virtual_event.c */
int virtual_watch(int epoll, int fd, int *watching);
void virtual_unwatch(int epoll, int fd, int *watching);
void virtual_make_nonblocking(int fd);
int virtual_wait(int fd);

/* virtual_interrupt.c */
struct pollfd;
int virtual_poll(struct pollfd *wait); /* without a time limit; 0 when it is ready, or -1 */

/* virtual_async.c */
int virtual_open_async(struct v_context *context); /* 0 or an errno */
void virtual_close_async(struct v_context *context);
int virtual_keep_events(struct v_context *context);
int virtual_tell_ports(struct v_context *context);
void virtual_withdraw_events(struct v_context *context, const void *element);
int virtual_get_async_event(struct ibv_context *, struct ibv_async_event *);
void virtual_ack_async_event(struct ibv_async_event *);
/* Until the job has acknowledged what it was told about an object: ibv_get_async_event(3). Outside the gate. */
void virtual_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed,
                               const uint32_t *delivered);

/* virtual_channel.c */
struct ibv_comp_channel *virtual_create_comp_channel(struct ibv_context *);
int virtual_destroy_comp_channel(struct ibv_comp_channel *);
int virtual_get_cq_event(struct ibv_comp_channel *, struct ibv_cq **, void **cq_context);
void virtual_ack_cq_events(struct ibv_cq *, unsigned count);
void virtual_raise(struct v_cq *cq);
void virtual_raise_for_stash(struct v_cq *cq);
void virtual_stash_is_empty(struct v_cq *cq);               /* the job has polled what it would be told of */
unsigned virtual_keep_cq_events(struct v_channel *channel); /* the device's undelivered events become ours; how many */

/* virtual_memory.c */
struct ibv_pd *virtual_alloc_pd(struct ibv_context *);
int virtual_dealloc_pd(struct ibv_pd *);
struct ibv_mr *virtual_reg_mr(struct ibv_pd *, void *addr, size_t length, uint64_t iova, unsigned access);
int virtual_dereg_mr(struct ibv_mr *);
int virtual_tell_key(const struct v_mr *mr); /* 0 or an errno */
void virtual_set_real_key(struct v_mr *mr);
/* A window's numbers: 256 of those that are given, so that peers on other hosts ask for one that they do not know. */
struct v_mw;
uint32_t virtual_give_block(struct v_mw *mw);
void virtual_take_block_back(struct v_mw *mw);
/* Keys of elements, in place: from the job's to the device's, and back, before a restart makes the memory known under
 * others. */
void virtual_translate_sges(struct ibv_sge *sges, uint32_t count);
void virtual_untranslate_sges(const struct v_context *context, struct ibv_sge *sges, uint32_t count);

/* virtual_cq.c, generic_poll.c */
struct ibv_cq *virtual_create_cq(struct ibv_context *, int cqe, void *cq_context, struct ibv_comp_channel *,
                                 int vector);
int virtual_resize_cq(struct ibv_cq *, int cqe);
int virtual_destroy_cq(struct ibv_cq *);
int virtual_req_notify_cq(struct ibv_cq *, int solicited_only);
int virtual_others_have_left(void); /* whichever verb they were in; waits, but not for ever. Not from inside a verb */
int virtual_nobody_reads_records(void); /* waits, but not for ever: 0 when somebody may still */
int virtual_poll_stash(struct v_cq *cq, int count, struct ibv_wc *);
int virtual_poll_real(struct v_cq *cq, int count, struct ibv_wc *wc);
/* How many completions a poll has got, with those of the device; its failure is told when there are no others. */
static inline int virtual_add_polled(int got, int more)
{
    return more < 0 && got ? got : got + more;
}
extern uint32_t virtual_stashed;                                        /* completions in all stashes */
void virtual_unstashed(uint32_t count);                                 /* so many have left them */
int virtual_stash(struct v_cq *cq, const struct ibv_wc *wc, int count); /* 0 or ENOMEM */
void virtual_unstash_qp(struct v_cq *cq, uint32_t qpn);

/* virtual_qp.c; records of receives: generic_receive.c */
struct ibv_qp *virtual_create_qp(struct ibv_pd *, struct ibv_qp_init_attr *);
int virtual_modify_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask);
int virtual_query_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask, struct ibv_qp_init_attr *);
int virtual_destroy_qp(struct ibv_qp *);
int virtual_register_qp(struct v_qp *qp, uint32_t virtual_qpn); /* 0 or an errno */
int virtual_enter_port(struct v_qp *qp, unsigned number);       /* the same, when INIT has named its port */
void virtual_unregister_qp(struct v_qp *qp);
void virtual_guard(struct v_qp *qp); /* by a device that can: against what comes from nobody of the job */
/* A ring for that many requests of at most so many bytes each: its memory, zeroed, or NULL; mask and stride as in
 * struct work_ring. */
char *virtual_make_ring(uint32_t requests, size_t bytes, uint32_t *mask, uint32_t *stride);
int virtual_make_receives(struct work_ring *ring, uint32_t requests, uint32_t max_sges); /* 0 or -1 */
void virtual_name_receives(struct work_ring *ring, uint32_t number);                     /* of their queue pair */
void virtual_untranslate_receives(const struct v_context *context, struct work_ring *ring);

/* Receives in a new incarnation: where to. These return 0, or -1 with errno. */
struct receiver {
    struct ibv_qp *qp; /* one of the two, the device's */
    struct ibv_srq *srq;
    struct work_ring *ring;
};
int virtual_repost_receives(const struct receiver *to);
/* virtual_keep.c: on the fused path */
int virtual_keep_receives(struct kept_receives **place, const struct receiver *from);
int virtual_repost_kept(struct kept_receives **place, const struct receiver *to);

/* virtual_srq.c */
struct ibv_srq *virtual_create_srq(struct ibv_pd *, struct ibv_srq_init_attr *);
struct ibv_srq *virtual_create_xrc_srq(struct ibv_pd *, struct ibv_srq_init_attr *, struct ibv_pd *domain,
                                       struct ibv_cq *, uint32_t number);
int virtual_srq_number(struct ibv_srq *, uint32_t *number);
int virtual_modify_srq(struct ibv_srq *, struct ibv_srq_attr *, int mask);
int virtual_query_srq(struct ibv_srq *, struct ibv_srq_attr *);
int virtual_destroy_srq(struct ibv_srq *);
int virtual_learn_limits(struct v_context *context);
int virtual_rebuild_srq(struct v_srq *srq); /* 0, or -1 with errno */
int virtual_refill_srq(struct v_srq *srq);  /* its receives and its limit, when its queue pairs exist */

/* virtual_multicast.c */
int virtual_is_multicast(const union ibv_gid *gid); /* virtual_grh.c */
int virtual_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
int virtual_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
int virtual_attach_again(struct v_qp *qp); /* in a new incarnation; 0, or -1 with errno */

/* virtual_rebuild.c: to the state SQE leads only a send that fails: one with a key that no memory has. Its
 * completion is for nobody; `work`: its record, of which its own address is the wr_id. `ah`: of a datagram. 0, or
 * -1 with errno. */
int virtual_break_sends(struct v_qp *qp, struct work *work, struct ibv_ah *ah);
/* of such a record: until it has succeeded. 0 or an errno */
int virtual_await_request(struct v_qp *qp, struct work *work);

/* virtual_number.c */
_Static_assert(MAX_PORTS == NUMBER_PORT_MASK + 1, "a port fits beside a number");
int virtual_set_number(struct v_context *context, uint32_t real, uint32_t virtual); /* 0 or -1 */
uint32_t virtual_number_of(const struct v_context *context, uint32_t real);         /* 0: none of ours */
void virtual_forget_numbers(struct v_context *context);

/* virtual_ah.c, virtual_route.c, virtual_source.c */
struct ibv_ah *virtual_create_ah(struct ibv_pd *, struct ibv_ah_attr *);
int virtual_destroy_ah(struct ibv_ah *);
struct ibv_ah *virtual_real_ah(struct v_pd *pd, const struct ibv_ah_attr *attributes);
void virtual_forget_real_ahs(struct v_pd *pd, int destroy);
extern struct route virtual_no_route;
const struct route *virtual_find_route(struct v_ah *ah, uint32_t qpn, uint64_t epoch); /* NULL with errno */
void virtual_forget_routes(struct v_ah *ah);
void virtual_free_retired_routes(void);
void virtual_forget_sources(void);
