/* Two queue pairs of one process that are connected to each other, for the cases of reliable connections. */
#pragma once
#include "fabric.h"

struct pair_options {
    int send_wr, recv_wr, inline_data, signal_all, with_channel;
    unsigned access;                       /* of queue pair and memory; 0: all */
    int rnr_retry, timeout, min_rnr_timer; /* 0: 7, 14, 1 */
    int max_rd_atomic;                     /* 0: 4 */
    enum ibv_mtu mtu;                      /* 0: 1024 bytes */
    uint32_t psn;                          /* of a's sends */
    int with_srq;                          /* b receives from one */
    int not_connected;                     /* both stay in INIT */
    int unreliable;                        /* UC */
    size_t size;                           /* of each one's memory; 0: 1 MiB */
};

/* `ah` is not made; send_cq and recv_cq are one when there is a channel. */
struct end_pair {
    struct end a, b;
};

struct end_pair make_pair(struct pair_options options);
int connect_qp(struct ibv_qp *qp, struct ibv_qp *peer, uint16_t lid, struct pair_options options, uint32_t send_psn,
               uint32_t receive_psn);
int to_rtr_rc(struct ibv_qp *qp, uint32_t peer, uint16_t lid, struct pair_options options, uint32_t psn);
int to_rts_rc(struct ibv_qp *qp, struct pair_options options, uint32_t psn);
int to_init_rc(struct ibv_qp *qp, unsigned access);
int to_rtr_uc(struct ibv_qp *qp, uint32_t peer, uint16_t lid, struct pair_options options, uint32_t psn);
int to_rts_uc(struct ibv_qp *qp, uint32_t psn);
uint16_t own_lid(struct ibv_context *context);

/* One work request from `from` to memory + remote of `to`; wr_id is `id`. */
struct operation {
    enum ibv_wr_opcode opcode;
    uint64_t id;
    size_t local, remote;
    uint32_t length;
    unsigned flags;
    uint32_t immediate;
    uint64_t compare_add, swap;
    uint32_t rkey; /* 0: that of to's memory */
    int halved;    /* as two elements */
};
int post(struct end *from, struct end *to, struct operation operation);
/* Polls both ends until `count` completions came to `cq`, or 20 seconds passed. */
int await_wc(struct ibv_cq *cq, int count, struct ibv_wc *wc);
