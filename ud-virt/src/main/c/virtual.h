/* The virtual device: the objects that the job holds. Each starts with libibverbs' own struct, whose
 * address and numbers never change; `real` is the device's object of this life. */
#pragma once
#include "extended.h"
#include "gate.h"
#include "verbs_device.h"
#include "virtual_list.h"
#include <pthread.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { MAX_GIDS = 16, MAX_PORTS = 8, DEVICE_NAME = 64, ROUTES = 256, SOURCES = 256, CHUNK = 16, CHUNK_SGES = 128, FEW_SGES = 4 };

/* The kind of link of this process's ports. They are all of one kind, since LIDs and the numbers of RoCE hosts are not told
 * apart in the translation table; the ports of another kind are seen and cannot be used. */
struct v_link_kind {
    int known;
    int ethernet; /* RoCE: addresses are GIDs, and hosts have a number in the place of a LID (virtual_host.h) */
};
extern struct v_link_kind virtual_identity; /* what the job sees, for ever */
extern struct v_link_kind virtual_real;     /* in this life */

/* A port of a device: what the job was told in the life in which it first opened the device, and what it is now. */
struct v_port {
    uint8_t number; /* from 1 */
    int usable;     /* of the kind of link that this process goes by */
    int ethernet;
    uint16_t lid, sm_lid; /* RoCE: the job sees LID 0; lid is the port's number */
    int gid_count;
    int gid_index; /* of the GID that stands for the port */
    union ibv_gid gids[MAX_GIDS];
    uint32_t gid_types[MAX_GIDS]; /* enum ibv_gid_type */
    struct {                      /* the device's port that it is on in this life */
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
    unsigned place; /* among the process's devices: decides which device of a later life it is on, and the numbers of RoCE ports */
    unsigned real_place; /* of the one that it is on, among this life's */
    unsigned port_count;
    struct v_port ports[MAX_PORTS];
    __be64 node_guid, sys_image_guid;
};

struct v_context {
    struct ibv_context *real;
    struct v_identity *identity;
    char device[DEVICE_NAME];
    int watching; /* the real async descriptor is in async_fd's epoll */
    int raise_fd; /* readable while `events` has any */
    unsigned ports_down; /* as the job was told: bit P - 1; guarded by virtual_mutex */
    int gone;            /* the device of this life was taken away */
    struct v_async *events, **events_last; /* of before a checkpoint; guarded by virtual_mutex */
    struct v_link link, pds, mrs, channels, cqs, srqs, qps;
    struct v_numbers *numbers; /* real queue pair number to virtual one; virtual_number.c */
    struct verbs_context verbs; /* the job holds &verbs.context */
};

struct v_pd {
    struct ibv_pd pd;
    struct ibv_pd *real;
    struct v_link link;
    int users; /* of the job's objects: the real address handles are ours */
    struct real_ah *real_ahs; /* shared, one per real destination */
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
    struct v_link link;
    uint32_t stash_count; /* completions of before the checkpoint, delivered first */
    uint32_t stash_next, stash_capacity;
    struct ibv_wc *stash;
    pthread_mutex_t stash_mutex;
    int vector, wanted;
    int armed;  /* req_notify_cq without an event since: 1 solicited only, 2 any */
    int raised; /* events that get_cq_event takes before it asks the device */
    int failed; /* overflowed in an earlier life */
    int reserved; /* room in the device's queue, for completions that the job did not ask for (rc_send.c) */
    uint32_t drained; /* completions that the last drain took */
    uint32_t events_delivered, async_delivered;
};

struct v_rc;

/* A posted work request; its address is the real wr_id. Its state is WORK_FREE, WORK_RECEIVE, or WORK_SEND; a request of a
 * connection has its send flags beside that, with those that the queue pair adds. The bits are not in enum ibv_send_flags. */
#define WORK_FREE 0u
#define WORK_RECEIVE 0x20000000u
#define WORK_SEND 0x40000000u
struct work {
    uint64_t wr_id;
    uint32_t number; /* of its queue pair, with NUMBER_OF_CONNECTION; 0: of a shared queue, so the completion tells */
    uint32_t state;
};

/* Makes a free slot the caller's; 0: it was not free. The number that a poster drew does not make the slot its own: while it is
 * held up between the two, others may come round the ring to the same slot. All that are taken in one ring have the same bit,
 * so a test-and-set of it does what a compare-and-swap would, in two instructions instead of four. */
static inline __attribute__((always_inline)) int claim_work(struct work *work, uint32_t bit)
{
    return LIKELY(!(__atomic_fetch_or(&work->state, bit, __ATOMIC_ACQUIRE) & bit));
}

static inline void free_work(struct work *work)
{
    __atomic_store_n(&work->state, WORK_FREE, __ATOMIC_RELEASE);
}

/* A receive and the device's form of it, of which only what differs from one request to the next is filled in. */
struct receive_work {
    struct ibv_recv_wr posted; /* sg_list: sges; the first member, so that its address is the slot's */
    struct work work;
    struct ibv_sge sges[];     /* with the keys of this life */
};

/* The receives of a queue pair or a shared queue; no works with a borrowing device. Places are counted in bytes, and both the
 * stride and the whole are powers of two, so that a place is found by an addition and a mask. */
struct receive_ring {
    char *works;
    uint32_t head, mask, stride, max_sges;
};

struct v_srq {
    struct ibv_srq srq;
    struct ibv_srq *real;
    struct receive_ring receives;
    struct v_link link;
    struct ibv_srq_init_attr wanted;
    struct kept_receives *kept; /* while a life is rebuilt */
    uint32_t limit;             /* as a checkpoint found it armed */
    uint32_t async_delivered;
};

struct v_qp {
    union {
        struct ibv_qp qp;
        struct extended_qp extended;
    };
    struct ibv_qp *real;
    uint32_t send_head, send_mask;
    struct work *sends; /* ring of the signaled ones; none with a borrowing device */
    struct receive_ring receives; /* none with a shared queue */
    uint32_t async_delivered;
    struct v_rc *rc; /* of a reliable connection (rc-virt); else NULL */
    struct v_port *port; /* as INIT named it; the first one before */
    unsigned always; /* IBV_SEND_SIGNALED when the queue pair signals all sends; SEND_KEYED while virtual_keys_differ; WORK_SEND */
    struct v_link link;
    struct ibv_qp_init_attr wanted;
    struct v_group *groups; /* multicast; guarded by qp.mutex */
    int repeats_last;              /* rebuilt in the error state: the device tells the last request a second time */
    struct kept_receives *kept;    /* while a life is rebuilt */
    struct ibv_qp_attr attributes; /* qkey, pkey_index, port_num, sq_psn as last set */
};

/* Where one virtual destination is now; never changed after it is published. */
struct route {
    uint32_t virtual_qpn, real_qpn;
    uint64_t epoch;
    struct ibv_ah *real;
    struct route *next, *retired;
    uint32_t asked; /* unknown peers: how often it was wanted */
    uint64_t change;      /* of the destination's QPN, by exclusive or: the Q_Key above it in a request stays */
    uint64_t prepared[4]; /* a borrowing device's own form of the destination (virtual_lending.h) */
};

struct v_ah {
    struct ibv_ah ah;
    struct ibv_ah_attr attributes; /* the virtual destination */
    struct v_link link;
    struct route *routes[ROUTES]; /* chains by QPN; never NULL */
};

extern struct v_link virtual_contexts, virtual_ahs;
extern pthread_mutex_t virtual_mutex; /* lists of objects; taken on creation and destruction only */
extern int virtual_keys_differ __attribute__((visibility("hidden"))); /* some MR's real key is not its virtual one */

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

#define SEND_KEYED 0x10000000u /* beside enum ibv_send_flags */

/* The keys of most regions, virtual << 32 | real, each pair in one word so that it is read whole; virtual_memory.c fills it
 * when a region comes or goes and has all of them. Two regions whose keys meet here: the older one is looked up there. */
enum { NEAR_KEYS_BITS = 12 };
extern uint64_t virtual_near_keys[1 << NEAR_KEYS_BITS] __attribute__((visibility("hidden")));
uint32_t virtual_far_key(uint32_t key);

static inline uint64_t *near_key(uint32_t key)
{
    return &virtual_near_keys[(key * 0x9e3779b1u) >> (32 - NEAR_KEYS_BITS)];
}

/* Puts in the key that the device knows. Returns 0 when it is not near. */
static inline int translate_near(uint32_t *key)
{
    uint64_t pair = __atomic_load_n(near_key(*key), __ATOMIC_RELAXED);
    int found = LIKELY((uint32_t)(pair >> 32) == *key);
    if (found)
        *key = (uint32_t)pair;
    return found;
}

/* The key that the device knows. An unknown one passes: the device refuses it. */
static inline uint32_t real_key(uint32_t key)
{
    return translate_near(&key) ? key : virtual_far_key(key);
}

static inline struct v_context *context_of(struct ibv_context *context)
{
    return CONTAINER(struct v_context, verbs.context, context);
}

/* NULL when the job's device has no such port, or it is of a kind of link that this process cannot use. */
static inline struct v_port *port_of(struct ibv_context *context, unsigned number)
{
    struct v_identity *identity = context_of(context)->identity;
    return number >= 1 && number <= identity->port_count && identity->ports[number - 1].usable ? &identity->ports[number - 1] : NULL;
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

/* As libibverbs' inline function calls the provider. rxe's (rdma-core 44) gives errors with a minus sign, so who sees one takes abs(). */
static inline int post_real_send(struct ibv_qp *real, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return real->context->ops.post_send(real, wr, bad);
}

/* A result that has been compared with 0, where it is: the compiler would make another 0. */
static inline __attribute__((always_inline)) int same(int result)
{
    __asm__("" : "+r"(result));
    return result;
}

static inline struct receive_work *receive_at(const struct receive_ring *ring, uint32_t place)
{
    return (struct receive_work *)(ring->works + (place & ring->mask));
}

/* virtual_context.c */
struct ibv_device **virtual_get_device_list(int *count);
void virtual_free_device_list(struct ibv_device **list);
struct ibv_context *virtual_open_device(struct ibv_device *device);
int virtual_close_device(struct ibv_context *context);
/* The device of this life for the job's device at `place`, after a restart; which may be fewer than there were. */
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

/* virtual_async.c */
int virtual_open_async(struct v_context *context); /* 0 or an errno */
void virtual_close_async(struct v_context *context);
int virtual_keep_events(struct v_context *context);
int virtual_tell_ports(struct v_context *context);
void virtual_withdraw_events(struct v_context *context, const void *element);
int virtual_get_async_event(struct ibv_context *, struct ibv_async_event *);
void virtual_ack_async_event(struct ibv_async_event *);
/* Until the job has acknowledged what it was told about an object: ibv_get_async_event(3). Outside the gate. */
void virtual_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed, const uint32_t *delivered);

/* virtual_channel.c */
struct ibv_comp_channel *virtual_create_comp_channel(struct ibv_context *);
int virtual_destroy_comp_channel(struct ibv_comp_channel *);
int virtual_get_cq_event(struct ibv_comp_channel *, struct ibv_cq **, void **cq_context);
void virtual_ack_cq_events(struct ibv_cq *, unsigned count);
void virtual_raise(struct v_cq *cq);
unsigned virtual_keep_cq_events(struct v_channel *channel); /* the device's undelivered events become ours; how many */

/* virtual_memory.c */
struct ibv_pd *virtual_alloc_pd(struct ibv_context *);
int virtual_dealloc_pd(struct ibv_pd *);
struct ibv_mr *virtual_reg_mr(struct ibv_pd *, void *addr, size_t length, uint64_t iova, unsigned access);
int virtual_dereg_mr(struct ibv_mr *);
int virtual_tell_key(const struct v_mr *mr); /* 0 or an errno */
void virtual_set_real_key(struct v_mr *mr);
void virtual_key_queue_pairs(struct v_context *context); /* virtual_qp.c: they see that keys differ; under virtual_mutex, or the gate is closed */
/* Keys of elements, in place: from the job's to the device's, and back, before a restart makes the memory known under others. */
void virtual_translate_sges(struct ibv_sge *sges, uint32_t count);
void virtual_untranslate_sges(const struct v_context *context, struct ibv_sge *sges, uint32_t count);

/* virtual_cq.c, virtual_poll.c */
struct ibv_cq *virtual_create_cq(struct ibv_context *, int cqe, void *cq_context, struct ibv_comp_channel *, int vector);
int virtual_resize_cq(struct ibv_cq *, int cqe);
int virtual_destroy_cq(struct ibv_cq *);
int virtual_req_notify_cq(struct ibv_cq *, int solicited_only);
int virtual_poll_cq(struct ibv_cq *, int count, struct ibv_wc *);
int virtual_nobody_reads_records(void); /* waits, but not for ever: 0 when somebody may still */
int virtual_poll_stash(struct v_cq *cq, int count, struct ibv_wc *);
int virtual_poll_real(struct v_cq *cq, int count, struct ibv_wc *wc);
extern uint32_t virtual_stashed; /* completions in all stashes */
void virtual_unstashed(uint32_t count); /* so many have left them */
int virtual_stash(struct v_cq *cq, const struct ibv_wc *wc, int count); /* 0 or ENOMEM */
void virtual_unstash_qp(struct v_cq *cq, uint32_t qpn);

/* virtual_qp.c, virtual_send.c, virtual_receive.c */
struct ibv_qp *virtual_create_qp(struct ibv_pd *, struct ibv_qp_init_attr *);
int virtual_modify_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask);
int virtual_query_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask, struct ibv_qp_init_attr *);
int virtual_destroy_qp(struct ibv_qp *);
int virtual_register_qp(struct v_qp *qp, uint32_t virtual_qpn); /* 0 or an errno */
int virtual_enter_port(struct v_qp *qp, unsigned number);       /* the same, when INIT has named its port */
void virtual_unregister_qp(struct v_qp *qp);
/* Of datagrams only; a context gets virtual_post_any with its first reliable connection. */
int virtual_post_datagrams(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int virtual_post_any(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int virtual_post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
/* A ring for that many requests of at most so many bytes each: its memory, zeroed, or NULL; mask and stride as in struct receive_ring. */
char *virtual_make_ring(uint32_t requests, size_t bytes, uint32_t *mask, uint32_t *stride);
int virtual_make_receives(struct receive_ring *ring, uint32_t requests, uint32_t max_sges); /* 0 or -1 */
void virtual_name_receives(struct receive_ring *ring, uint32_t number); /* of their queue pair */
void virtual_untranslate_receives(const struct v_context *context, struct receive_ring *ring);

/* Receives in a new life: where to. These return 0, or -1 with errno. */
struct receiver {
    struct ibv_qp *qp; /* one of the two, the device's */
    struct ibv_srq *srq;
    struct receive_ring *ring;
};
int virtual_repost_receives(const struct receiver *to);
int virtual_keep_receives(struct kept_receives **place, const struct receiver *from); /* virtual_keep.c: with a borrowing device */
int virtual_repost_kept(struct kept_receives **place, const struct receiver *to);

/* virtual_srq.c */
struct ibv_srq *virtual_create_srq(struct ibv_pd *, struct ibv_srq_init_attr *);
int virtual_modify_srq(struct ibv_srq *, struct ibv_srq_attr *, int mask);
int virtual_query_srq(struct ibv_srq *, struct ibv_srq_attr *);
int virtual_destroy_srq(struct ibv_srq *);
int virtual_post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int virtual_learn_limits(struct v_context *context);
int virtual_rebuild_srq(struct v_srq *srq); /* 0, or -1 with errno */
int virtual_refill_srq(struct v_srq *srq);  /* its receives and its limit, when its queue pairs exist */

/* virtual_multicast.c */
int virtual_is_multicast(const union ibv_gid *gid); /* virtual_grh.c */
int virtual_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
int virtual_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
int virtual_attach_again(struct v_qp *qp); /* in a new life; 0, or -1 with errno */

/* virtual_number.c */
/* A number has this bit when it is a reliable connection's, whose completions name no source. */
#define NUMBER_OF_CONNECTION 0x80000000u
/* Its port, less one, is here. */
#define NUMBER_PORT_SHIFT 24
#define NUMBER_PORT_MASK 7u
_Static_assert(MAX_PORTS == NUMBER_PORT_MASK + 1, "a port fits beside a number");
#define NUMBER_MASK 0xffffffu
int virtual_set_number(struct v_context *context, uint32_t real, uint32_t virtual); /* 0 or -1 */
uint32_t virtual_number_of(const struct v_context *context, uint32_t real); /* 0: none of ours */
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
