/* rdma_cm for a job: connections between its processes, set up over UD.
 *
 * A real rdma_cm talks through the kernel, whose state no image holds. Here each process has one UD queue pair of its
 * own for connection management, as InfiniBand's QP1 is, and the agent knows who listens where. All verbs are called
 * as any program calls them, above the virtual device: a restart moves the queue pair, the connections and their
 * addresses, and nothing here has to know. docs/internals/rdma-cm.md has the messages and the states. */
#pragma once
#define _GNU_SOURCE
#include "cm_wire.h"
#include <rdma/rdma_verbs.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>

enum cm_state {
    CM_IDLE,
    CM_BOUND,
    CM_RESOLVED,   /* address or route */
    CM_CONNECTING, /* REQ sent */
    CM_REQUESTED,  /* REQ received, neither accepted nor rejected */
    CM_ACCEPTED,   /* REP sent */
    CM_RESPONDED,  /* REP received, and the program has a queue pair of its own to bring up */
    CM_CONNECTED,
    CM_CLOSING, /* DREQ sent */
    CM_CLOSED,
    CM_LISTENING,
};

#define EXPORT __attribute__((visibility("default")))

struct cm_peer {
    uint64_t connection; /* the peer's number of it */
    struct cm_endpoint service;
};

struct cm_id {
    struct rdma_cm_id id;
    struct cm_id *next; /* of all */
    uint64_t connection;
    enum cm_state state;
    struct cm_peer peer;
    struct cm_id *listener;
    struct cm_message last;               /* what is sent again until it is answered */
    struct cm_message request;            /* what the peer said of itself: the REQ, or on the active side the REP */
    struct rdma_conn_param parameters;    /* ours, as the other side is told */
    uint8_t retry_count, rnr_retry_count; /* our queue pair's: cm_connect.c */
    long deadline_ms;                     /* 0: nothing to send again */
    int repeats;
    int backlog, pending; /* listener: requests that wait for accept or reject */
    int events;           /* delivered and not acknowledged; rdma_destroy_id waits for 0 */
    uint32_t qkey, psn;
    int port_reserved, owns_channel, owns_pd, owns_cqs;
    int reuse_address, family_only;
    int ack_timeout;                            /* or -1: the program has not set it */
    struct ibv_qp_init_attr *listen_attributes; /* of rdma_create_ep: each request gets such a queue pair */
    struct cm_group *groups;
};

struct cm_group { /* a multicast group that an id has joined */
    struct cm_group *next;
    struct sockaddr_storage address;
    union ibv_gid gid;
    uint16_t lid;
    int receives; /* not a member that only sends */
    int events;   /* as of cm_id; rdma_leave_multicast waits for 0 */
    void *context;
};

struct cm_event {
    struct rdma_cm_event event;
    struct cm_event *next;
    struct cm_group *group; /* of an event of its own */
    uint8_t private_data[CM_PRIVATE_MAX];
};

struct cm_channel {
    struct rdma_event_channel channel; /* fd: an eventfd, not zero while there are events */
    struct cm_event *first, *last;
};

extern pthread_mutex_t cm_mutex; /* guards everything here; no verb that can wait is called under it */
extern pthread_cond_t cm_acknowledged;

static inline struct cm_id *cm_of(struct rdma_cm_id *id)
{
    return (struct cm_id *)id;
}

int cm_refuse(const char *name, const char *advice); /* errno EOPNOTSUPP, -1, and one line */
int cm_fail(int error);                              /* errno, -1 */
__attribute__((format(printf, 1, 2))) void cm_say(const char *format, ...);

/* cm_service.c: the device, the service queue pair and its thread. */
struct ibv_context *cm_device(void); /* NULL with errno */
struct ibv_context *cm_device_if_open(void);
int cm_service_start(void);
const struct cm_endpoint *cm_service_endpoint(void);
int cm_address(const struct cm_endpoint *endpoint, struct ibv_ah_attr *attr); /* on our device's port */
/* Whether another message can be sent now: those before it may still be on their way. */
int cm_may_send(void);
void cm_send(const struct cm_message *message, const struct cm_endpoint *to); /* under the mutex; may get lost */
struct ibv_pd *cm_default_pd(void);
uint8_t cm_port(void);
int cm_max_responder_resources(void);
int cm_max_initiator_depth(void);
int cm_active_mtu(void);
int cm_link_layer(void);
void cm_port_address(struct cm_endpoint *endpoint); /* LID and GID of our port */
void cm_wake(void);

/* cm_exit.c */
void cm_owned(void); /* by this process: it disconnects what is open when it exits */

/* cm_ids.c */
uint64_t cm_new_connection(void);
struct cm_id *cm_make_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                         enum ibv_qp_type type);
int cm_create(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps,
              enum ibv_qp_type type);
void cm_link(struct cm_id *id);
void cm_unlink(struct cm_id *id);
struct cm_id *cm_all(void);
struct cm_id *cm_find(uint64_t connection);
struct cm_id *cm_find_peer(uint64_t connection, const struct cm_endpoint *service);
struct cm_id *cm_find_listener(const struct cm_message *request);
/* where a listener was a moment ago: it may be being replaced */
int cm_may_listen_soon(const struct cm_message *request);

/* cm_events.c; under the mutex */
void cm_deliver(struct cm_id *id, struct cm_id *listener, enum rdma_cm_event_type type, int status,
                const struct cm_message *message);
void cm_deliver_join(struct cm_id *id, struct cm_group *group);
void cm_forget_events(struct cm_id *id);
void cm_forget_group_events(struct cm_id *id, const struct cm_group *group);
void cm_move_events(struct cm_id *id, struct rdma_event_channel *to); /* and the id with them */
/* For the next event of an id without a channel of the program's; not under the mutex. */
int cm_wait(struct rdma_cm_id *id);

/* cm_receive.c; under the mutex */
void cm_received(const struct cm_message *message);
void cm_rejected(struct cm_id *id, const struct cm_message *message);
/* cm_connect.c; under the mutex */
long cm_now_ms(void);
void cm_repeat(struct cm_id *id, long first_ms);
void cm_settle(struct cm_id *id); /* nothing to send again */
long cm_timers(void);             /* sends what is due; milliseconds until the next, or -1 */
void cm_fill(struct cm_message *message, struct cm_id *id, enum cm_kind kind, const void *data, size_t length);

static inline int cm_is_datagram(const struct cm_id *id)
{
    return id->id.qp_type == IBV_QPT_UD;
}

/* cm_qp.c */
int cm_qp_initialise(struct cm_id *id);
int cm_qp_connect(struct cm_id *id); /* to the peer whose message is in id->request */

/* cm_multicast.c */
/* The program is about to be told; 0 or an errno. */
int cm_group_joined(struct cm_id *id, const struct cm_group *group);
void cm_forget_groups(struct cm_id *id);

/* cm_listen.c */
int cm_reserve(struct cm_id *id, int listening);
void cm_release(struct cm_id *id);
enum cm_found {
    CM_FOUND,
    CM_NOBODY,     /* listens there */
    CM_NOBODY_YET, /* a listener was taken away a moment ago, perhaps to be replaced: ask again */
    CM_NOT_ASKED,  /* errno */
};
enum cm_found cm_lookup(struct cm_id *id, struct cm_endpoint *endpoint);
