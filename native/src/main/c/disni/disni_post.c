/* DiSNI's data path. Java has laid out the work requests as C has them (disni_layout.c tells it the sizes), so that
 * nothing is copied or allocated here. */
#include "disni.h"

DISNI(void, postSend)(JNIEnv *env, jobject self, jlong qp, jlong requests)
{
    struct ibv_send_wr *bad;
    if (!disni_is(env, qp, "ibv_post_send", "queue pair"))
        return;
    int error = ibv_post_send(disni_object(qp), disni_object(requests), &bad);
    if (error)
        disni_throw(env, "ibv_post_send", error);
}

DISNI(void, postRecv)(JNIEnv *env, jobject self, jlong qp, jlong requests)
{
    struct ibv_recv_wr *bad;
    if (!disni_is(env, qp, "ibv_post_recv", "queue pair"))
        return;
    int error = ibv_post_recv(disni_object(qp), disni_object(requests), &bad);
    if (error)
        disni_throw(env, "ibv_post_recv", error);
}

DISNI(jint, pollCQ)(JNIEnv *env, jobject self, jlong cq, jint entries, jlong completions)
{
    return disni_is(env, cq, "ibv_poll_cq", "CQ") ? ibv_poll_cq(disni_object(cq), entries, disni_object(completions))
                                                  : -1;
}
