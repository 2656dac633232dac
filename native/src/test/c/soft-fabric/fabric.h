/* What the soft fabric's test programs share. A program is a list of named cases; without arguments
 * it prints their names, with one it runs that case and exits 0 when all checks held. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s (errno %d, %s)\n", __FILE__, __LINE__, #condition, errno, \
                    strerror(errno)); \
            exit(1); \
        } \
    } while (0)

#define EQUAL(expected, actual) \
    do { \
        long long expected_ = (long long)(expected), actual_ = (long long)(actual); \
        if (expected_ != actual_) { \
            fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, actual_, expected_); \
            exit(1); \
        } \
    } while (0)

#define QKEY 0x11111111u
#define GRH 40

struct fabric_case {
    const char *name;
    void (*run)(void);
};

/* One endpoint: a UD queue pair in RTS with everything it needs. */
struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    struct ibv_ah *ah; /* to this host itself */
    char *memory;
    size_t size;
};

struct end_options {
    int send_cqe, recv_cqe, send_wr, recv_wr, sge, inline_data, signal_all, with_channel, stay_in_reset;
    struct ibv_srq *srq;
    struct end *share; /* context, domain and memory of another end */
};

struct ibv_context *open_soft(void);
struct end make_end(struct end_options options);
void drop_end(struct end *end);
int to_init(struct ibv_qp *qp, uint32_t qkey);
int to_rtr(struct ibv_qp *qp);
int to_rts(struct ibv_qp *qp);
/* The device's state of a queue pair; the structure's field is only as new as the last modify_qp. */
int state_of(struct ibv_qp *qp);
struct ibv_ah *ah_to(struct ibv_pd *pd, uint16_t lid);

/* One receive of `length` bytes (GRH included) at memory + offset, its wr_id being the offset. */
int post_recv(struct end *end, size_t offset, uint32_t length);
/* Sends memory[offset, offset + length) to `to`; wr_id is the offset. */
int post_send(struct end *end, struct end *to, size_t offset, uint32_t length, unsigned flags);
struct ibv_send_wr send_wr(struct end *to, struct ibv_sge *sge, unsigned flags);
struct ibv_sge sge_at(struct end *end, size_t offset, uint32_t length);

/* Registered memory that is not mapped any more. */
struct ibv_sge unmapped_sge(struct end *end, uint32_t length);
/* Polls until `count` completions came or a second passed; returns how many. */
int poll_for(struct ibv_cq *cq, int count, struct ibv_wc *wc);
/* True when nothing comes in a few polls. */
int stays_empty(struct ibv_cq *cq);
void fill(char *at, size_t length, unsigned seed);
int is_filled(const char *at, size_t length, unsigned seed);

int run_cases(int argc, char **argv, const struct fabric_case *cases);
