#pragma once
#include "soft_types.h"

struct ibv_srq *soft_create_srq(struct ibv_pd *, struct ibv_srq_init_attr *);
int soft_modify_srq(struct ibv_srq *, struct ibv_srq_attr *, int mask);
int soft_query_srq(struct ibv_srq *, struct ibv_srq_attr *);
int soft_destroy_srq(struct ibv_srq *);
int soft_post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
void soft_srq_attach(struct soft_srq *srq, struct soft_qp *qp);
void soft_srq_detach(struct soft_srq *srq, struct soft_qp *qp);
