/* The two ends of an XRC connection, both in this process. */
#pragma once
#include "fabric_connect.h"

enum { QUEUES = 2, RECEIVE = 65536 };
enum { RIGHTS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

/* A target of a domain, and two shared queues of it, each with memory in a protection domain of its own. */
struct receiver {
    struct ibv_context *context;
    struct ibv_xrcd *domain;
    struct ibv_qp *target;
    struct queue {
        struct ibv_pd *pd;
        struct ibv_mr *mr;
        struct ibv_comp_channel *channel;
        struct ibv_cq *cq;
        struct ibv_srq *srq;
        uint32_t number;
        char *memory;
    } queues[QUEUES];
};

struct fixture {
    struct end a; /* its queue pair is the initiator */
    struct receiver b;
};

struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int oflags);
struct ibv_srq *make_srq(struct queue *q, struct ibv_xrcd *domain);
struct ibv_qp *make_target(struct ibv_xrcd *domain);
struct receiver make_receiver(void);
struct end make_initiator(int send_wr);
void connect_ends(struct fixture *f, int min_rnr_timer);
struct fixture make(void);
void receive(struct queue *q, uint64_t id);
struct ibv_send_wr request(struct queue *q, enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge);
void sent(struct end *a, uint64_t id, enum ibv_wc_status status);
void received(struct fixture *f, int i, uint64_t id, uint32_t length, unsigned seed);
