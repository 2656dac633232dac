/* Queue pairs at any port of any device, for tests with UDCKPT_SOFT_DEVICES=2 UDCKPT_SOFT_PORTS=2. */
#pragma once
#include "fabric.h"

enum { DEVICES = 2, PORTS = 2, ALL = DEVICES * PORTS };

/* A queue pair at a port. */
struct at {
    struct ibv_context *context;
    int port;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char memory[4096];
};

struct ibv_context *open_number(int number);
struct ibv_port_attr port_of(struct ibv_context *context, int port);
union ibv_gid gid_of(struct ibv_context *context, int port);
int init_at(struct ibv_qp *qp, int port);
struct at *make_at(struct ibv_context *context, int port, enum ibv_qp_type type); /* of datagrams: in RTS */
void receive_at(struct at *at);
/* Sends 100 bytes of "seed" to a LID and number, with a GRH when `gid` is given, and takes the completion. */
void send_from(struct at *from, uint16_t lid, uint32_t qpn, const union ibv_gid *gid, unsigned seed);
void check_arrival(struct at *to, struct at *from, unsigned seed);
void deliver(struct at *from, struct at *to, int global, unsigned seed);
void connect_to(struct at *own, struct at *peer); /* a reliable connection, to RTS */
