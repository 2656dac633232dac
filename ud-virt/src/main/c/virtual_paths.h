/* Which way a queue's requests and completions go, chosen where it changes rather than looked up each time: whether virtual is
 * real (a first life whose memory keys are the device's own), what is signaled, which transport. A way is read inside the gate,
 * so that no thread goes on in a way of before a restart; all of them are right for any request, only not equally short. */
#pragma once
#include "virtual.h"

/* The device's functions, as libibverbs' inline functions call them in each context, while all contexts of this process have
 * the same ones; else functions that look there. Only for the short ways. rxe's (rdma-core 44) give errors with a minus sign:
 * who sees one takes abs(). */
struct device_calls {
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
    int (*poll_cq)(struct ibv_cq *, int count, struct ibv_wc *);
};
extern struct device_calls virtual_calls __attribute__((visibility("hidden")));

/* When a context has come, or a queue pair: the soft fabric's first connection changes them. Under virtual_mutex, or with the
 * gate closed. */
void virtual_learn_calls(void);

/* Under virtual_mutex, or with the gate closed. */
void virtual_choose_path(struct v_qp *qp);
void virtual_choose_paths(struct v_context *context); /* of all its queues */

/* Who finds that the gate was closed, or has been: nothing that the thread has seen before need be true any more. */
__attribute__((cold)) int virtual_send_after_look(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
__attribute__((cold)) int virtual_receive_after_look(struct v_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
__attribute__((cold)) int virtual_poll_after_look(struct v_cq *, int count, struct ibv_wc *);
