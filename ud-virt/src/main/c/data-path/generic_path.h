/* The generic path: it runs on real devices, and on the soft fabric with UDCKPT_DATA_PATH=generic (the default there is
 * the fused path, fused_path.h). Each queue has function pointers for its requests and completions. They are chosen
 * when the choice changes, not at each call: by whether virtual numbers are the real ones (a first incarnation whose
 * memory keys are the device's own), what is signaled, and which transport. A pointer is read inside the gate, so no
 * thread continues on a path chosen before a restart. Every path is correct for every request; they differ in speed
 * only. */
#pragma once
#include "virtual.h"

/* The device's functions, which libibverbs' inline functions call through each context, if all contexts of this process
 * have the same ones; else functions that look into the context. Only the plain paths use this table. The functions of
 * rxe (rdma-core 44) return negative errors: the caller takes abs(). */
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

/* The paths. The caller has passed the gate; the path leaves it. recorded: for a queue pair that signals all sends;
 * noted: for a context with memory windows. Paths of connections are in the transport's table (transport.h). */
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

/* Called when the gate is or was closed: everything the thread has read before may be stale. */
__attribute__((cold)) int generic_send_after_look(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
__attribute__((cold)) int generic_receive_after_look(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
__attribute__((cold)) int generic_poll_after_look(struct v_cq *, int count, struct ibv_wc *);
