#pragma once
#include "soft_types.h"

struct ibv_qp *soft_create_qp(struct ibv_pd *, struct ibv_qp_init_attr *);
int soft_query_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask, struct ibv_qp_init_attr *);
int soft_destroy_qp(struct ibv_qp *);
int soft_modify_qp(struct ibv_qp *, struct ibv_qp_attr *, int mask);
int soft_post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
/* The same, of a context that has no reliable connection. */
int soft_post_datagrams(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);

/* The header with all that does not change between sends; anew after the port has changed. */
void soft_fill_header(struct soft_qp *qp);
/* To the error state: nothing more is received, posted receives are flushed. */
void soft_qp_fail(struct soft_qp *qp);
/* A send failed: a UD QP stops sending and goes on receiving. */
void soft_qp_send_failed(struct soft_qp *qp);
