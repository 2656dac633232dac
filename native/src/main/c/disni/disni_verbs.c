/* DiSNI's verbs objects: protection domains, completion channels and queues, memory regions, queue pairs. */
#include "disni.h"
#include <errno.h>
#include <fcntl.h>

DISNI(jlong, allocPd)(JNIEnv *env, jobject self, jlong context)
{
    return disni_is(env, context, "ibv_alloc_pd", "context")
               ? disni_new(env, ibv_alloc_pd(disni_object(context)), "ibv_alloc_pd")
               : -1;
}

DISNI(jint, deallocPd)(JNIEnv *env, jobject self, jlong pd)
{
    return disni_is(env, pd, "ibv_dealloc_pd", "protection domain") ? ibv_dealloc_pd(disni_object(pd)) : -1;
}

DISNI(jint, getPdHandle)(JNIEnv *env, jobject self, jlong pd)
{
    return disni_is(env, pd, "the handle of a PD", "protection domain")
               ? (jint)((struct ibv_pd *)disni_object(pd))->handle
               : -1;
}

DISNI(jlong, createCompChannel)(JNIEnv *env, jobject self, jlong context)
{
    if (!disni_is(env, context, "ibv_create_comp_channel", "context"))
        return -1;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(disni_object(context));
    /* not blocking: a wait with a limit may find that another thread took the event */
    if (channel && fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK)) {
        int error = errno;
        ibv_destroy_comp_channel(channel);
        channel = NULL;
        errno = error;
    }
    return disni_new(env, channel, "ibv_create_comp_channel");
}

DISNI(jint, destroyCompChannel)(JNIEnv *env, jobject self, jlong channel)
{
    return disni_is(env, channel, "ibv_destroy_comp_channel", "completion channel")
               ? ibv_destroy_comp_channel(disni_object(channel))
               : -1;
}

DISNI(jlong, createCQ)(JNIEnv *env, jobject self, jlong context, jlong channel, jint entries, jint vector)
{
    static const char what[] = "ibv_create_cq";
    if (!disni_is(env, context, what, "context") || !disni_is(env, channel, what, "completion channel"))
        return -1;
    return disni_new(env, ibv_create_cq(disni_object(context), entries, NULL, disni_object(channel), vector), what);
}

DISNI(jint, destroyCQ)(JNIEnv *env, jobject self, jlong cq)
{
    return disni_is(env, cq, "ibv_destroy_cq", "CQ") ? ibv_destroy_cq(disni_object(cq)) : -1;
}

DISNI(jint, reqNotifyCQ)(JNIEnv *env, jobject self, jlong cq, jint solicited_only)
{
    return disni_is(env, cq, "ibv_req_notify_cq", "CQ") ? ibv_req_notify_cq(disni_object(cq), solicited_only) : -1;
}

/* 0, or -1 when no event came in time. */
DISNI(jint, getCqEvent)(JNIEnv *env, jobject self, jlong channel, jint timeout_ms)
{
    struct ibv_cq *cq;
    void *cq_context;
    if (!disni_is(env, channel, "ibv_get_cq_event", "completion channel"))
        return -1;
    struct ibv_comp_channel *events = disni_object(channel);
    return disni_await(events->fd, timeout_ms) > 0 && !ibv_get_cq_event(events, &cq, &cq_context) ? 0 : -1;
}

DISNI(jint, ackCqEvent)(JNIEnv *env, jobject self, jlong cq, jint events)
{
    if (!disni_is(env, cq, "ibv_ack_cq_events", "CQ"))
        return -1;
    ibv_ack_cq_events(disni_object(cq), (unsigned)events);
    return 0;
}

/* The keys and the handle go to the three addresses, a 32-bit word each. */
DISNI(jlong, regMr)
(JNIEnv *env, jobject self, jlong pd, jlong address, jint length, jint access, jlong lkey, jlong rkey, jlong handle)
{
    if (!disni_is(env, pd, "ibv_reg_mr", "protection domain"))
        return -1;
    if (length < 0) { /* would be a size of 2^64 - n */
        disni_throw(env, "ibv_reg_mr of a negative length", EINVAL);
        return -1;
    }
    struct ibv_mr *mr = ibv_reg_mr(disni_object(pd), disni_object(address), (size_t)length, access);
    if (mr) {
        *(uint32_t *)disni_object(lkey) = mr->lkey;
        *(uint32_t *)disni_object(rkey) = mr->rkey;
        *(uint32_t *)disni_object(handle) = mr->handle;
    }
    return disni_new(env, mr, "ibv_reg_mr");
}

DISNI(void, deregMr)(JNIEnv *env, jobject self, jlong id)
{
    int error = disni_is(env, id, "ibv_dereg_mr", "memory region") ? ibv_dereg_mr(disni_object(id)) : 0;
    if (error)
        disni_throw(env, "ibv_dereg_mr", error);
}

/* The capabilities of on-demand paging for RC, or -1 where the device has none. */
DISNI(jint, queryOdpSupport)(JNIEnv *env, jobject self, jlong context)
{
    struct ibv_device_attr_ex device = {0};
    if (!disni_is(env, context, "ibv_query_device_ex", "context") ||
        ibv_query_device_ex(disni_object(context), NULL, &device))
        return -1;
    return device.odp_caps.general_caps & IBV_ODP_SUPPORT ? (jint)device.odp_caps.per_transport_caps.rc_odp_caps : -1;
}

DISNI(jint, expPrefetchMr)(JNIEnv *env, jobject self, jlong id, jlong address, jint length)
{
    if (!disni_is(env, id, "ibv_advise_mr", "memory region"))
        return -1;
    struct ibv_mr *mr = disni_object(id);
    struct ibv_sge range = {.addr = (uint64_t)address, .length = (uint32_t)length, .lkey = mr->lkey};
    int error = ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &range, 1);
    if (error)
        disni_throw(env, "ibv_advise_mr", error);
    return error ? -1 : 0;
}

/* RdmaVerbsNat.modifyQP of DiSNI 2.0 hands over 0 whatever the caller asks for. Nothing can be done with that, and to
 * modify a queue pair by what happens to lie on the stack would be worse than to say so. */
DISNI(jint, modifyQP)(JNIEnv *env, jobject self, jlong qp, jlong attributes)
{
    disni_throw(env,
                "ibv_modify_qp: DiSNI 2.0 does not hand over the attributes; "
                "use its rdma_cm calls or org.udckpt.ud.disni.UdQueuePair",
                EOPNOTSUPP);
    return -1;
}

DISNI(jint, getQpNum)(JNIEnv *env, jobject self, jlong qp)
{
    return disni_is(env, qp, "the number of a QP", "queue pair") ? (jint)((struct ibv_qp *)disni_object(qp))->qp_num
                                                                 : -1;
}

DISNI(jint, getContextFd)(JNIEnv *env, jobject self, jlong context)
{
    return disni_is(env, context, "the descriptor of a context", "context")
               ? ((struct ibv_context *)disni_object(context))->cmd_fd
               : -1;
}

DISNI(jint, getContextNumCompVectors)(JNIEnv *env, jobject self, jlong context)
{
    return disni_is(env, context, "the completion vectors of a context", "context")
               ? ((struct ibv_context *)disni_object(context))->num_comp_vectors
               : -1;
}
