/* The generic path: it runs on real devices, and on the soft fabric with UDCKPT_DATA_PATH=generic (the default there is
 * the fused path, fused_path.h). Which way a queue's requests and completions go, chosen where it changes rather than
 * looked up each time: whether virtual is real (a first incarnation whose memory keys are the device's own), what is
 * signaled, which transport. A way is read inside the gate, so that no thread goes on in a way of before a restart; all
 * of them are right for any request, only not equally short. */
#pragma once
#include "virtual.h"

/* The device's functions, as libibverbs' inline functions call them in each context, while all contexts of this
 * process have the same ones; else functions that look there. Only for the short ways. rxe's (rdma-core 44) give
 * errors with a minus sign: who sees one takes abs(). */
struct device_calls {
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
    int (*poll_cq)(struct ibv_cq *, int count, struct ibv_wc *);
};
extern struct device_calls generic_calls __attribute__((visibility("hidden")));

/* For context->ops: where a call of the job begins. */
int generic_post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int generic_post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int generic_post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int generic_poll_cq(struct ibv_cq *, int count, struct ibv_wc *);

/* The ways. The gate has been passed, and is left there. recorded: of a queue pair that signals all sends; noted: of a
 * context with memory windows. Those of connections are the transport's (transport.h). */
int generic_post_plain(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int generic_post_recorded(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int generic_post_translated(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int generic_receive_plain(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int generic_receive_translated(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int generic_poll_plain(struct v_cq *, int count, struct ibv_wc *);
int generic_poll_translated(struct v_cq *, int count, struct ibv_wc *);
int generic_poll_noted(struct v_cq *, int count, struct ibv_wc *);

/* When a context has come, or a queue pair: the soft fabric's first connection changes them. Under virtual_mutex, or
 * with the gate closed. */
void generic_learn_calls(void);

/* Under virtual_mutex, or with the gate closed. */
void generic_choose_path(struct v_qp *qp);
void generic_choose_paths(struct v_context *context); /* of all its queues */

/* Who finds that the gate was closed, or has been: nothing that the thread has seen before need be true any more. */
__attribute__((cold)) int generic_send_after_look(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
__attribute__((cold)) int generic_receive_after_look(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
__attribute__((cold)) int generic_poll_after_look(struct v_cq *, int count, struct ibv_wc *);
