/* A random walk through the verbs of UD, UC, RC, XRC and memory windows: valid programs whose history does not depend
 * on when a device delivers. Knows nothing of udckpt. What is said of a step is the same in every run with the same
 * seed, whatever the numbers are. */
#pragma once
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CQS = 3,
    SRQS = 2,
    QPS = 5,
    GROUPS = 2,
    CQ_SIZE = 512,
    RECEIVES = 24,
    BUFFER = 2048,
    BUFFERS = 1024,
    GRH_BYTES = 40,
    INLINE = 64,
    SENDS = 32
};
enum { QKEY = 0x1111, OTHER_QKEY = 0x2222 };

struct walk_cq {
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq; /* NULL: does not exist now */
    struct ibv_cq_ex *ex;
};

struct walk_queue {       /* of receives */
    unsigned posted, due; /* outstanding ones; datagrams that were sent to it and have not been polled */
    int risky;            /* one that fails may be among them */
};

struct walk_srq {
    struct ibv_srq *srq;
    struct walk_queue queue;
};

struct walk_qp {
    struct ibv_qp *qp;
    struct ibv_qp_ex *ex;
    int cq, srq; /* srq: -1 for its own queue */
    uint32_t qkey;
    int attached[GROUPS], mixed; /* mixed: was attached, so the order of its datagrams is not certain */
    int receives;                /* it did before the datagrams of this step */
    struct walk_queue queue;
};

struct walk {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    char *memory;
    unsigned char taken[BUFFERS]; /* posted buffers */
    struct ibv_ah *plain, *global, *groups[GROUPS];
    uint16_t lid, mlids[GROUPS];
    union ibv_gid mgids[GROUPS];
    union ibv_gid gid;
    struct walk_cq cqs[CQS];
    struct walk_srq srqs[SRQS];
    struct walk_qp qps[QPS];
    uint64_t random;
    unsigned sequence; /* of datagrams */
    struct {           /* the latest datagram that was received */
        int there, qp;
        uint32_t number;
        struct ibv_wc wc;
        struct ibv_grh grh;
    } last;
};

extern struct walk walk;

#define NEED(condition) \
    do { \
        if (!(condition)) { \
            printf("failed %s:%d: %s: %m\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

uint32_t pick(uint32_t below);
enum ibv_qp_state walk_state(const struct walk_qp *qp);
struct walk_queue *walk_queue_of(struct walk_qp *qp);
char *walk_buffer(void); /* one that is not posted, or NULL */
void walk_open(uint64_t seed);

void walk_poll_all(void); /* says every completion, grouped by queue pair; verbs_walk_poll.c */
void walk_async(void);
void walk_receive(void); /* verbs_walk_post.c */
void walk_send(void);
void walk_reply(void);
void walk_objects(void); /* verbs_walk_objects.c */
void walk_modify(void);
void walk_groups(void);
void walk_notify(void); /* verbs_walk_events.c */
void walk_event(void);
void walk_query(void);
void walk_resize(void);
void walk_connections(void); /* verbs_walk_connections.c */
void walk_xrc(void);         /* verbs_walk_xrc.c */
