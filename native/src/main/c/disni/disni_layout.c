/* Sizes and offsets by which DiSNI's Java half lays out C structures, and the version it insists on. */
#include "disni.h"
#include <netinet/in.h>
#include <stddef.h>

DISNI(jint, getVersion)(JNIEnv *env, jobject self)
{
    return DISNI_VERSION;
}

DISNI(jint, getSockAddrInSize)(JNIEnv *env, jobject self)
{
    return sizeof(struct sockaddr_in);
}

DISNI(jint, getIbvRecvWRSize)(JNIEnv *env, jobject self)
{
    return sizeof(struct ibv_recv_wr);
}

DISNI(jint, getIbvSendWRSize)(JNIEnv *env, jobject self)
{
    return sizeof(struct ibv_send_wr);
}

DISNI(jint, getIbvSgeSize)(JNIEnv *env, jobject self)
{
    return sizeof(struct ibv_sge);
}

DISNI(jint, getIbvWCSize)(JNIEnv *env, jobject self)
{
    return sizeof(struct ibv_wc);
}

DISNI(jint, getRemoteAddressOffset)(JNIEnv *env, jobject self)
{
    return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISNI(jint, getRKeyOffset)(JNIEnv *env, jobject self)
{
    return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}
