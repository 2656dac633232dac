/* UD for DiSNI's users: what its own dispatcher lacks, for org.udckpt.ud.disni. Devices without a connection manager,
 * UD queue pairs, address handles. */
#include "disni.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define UD_PORT_NUMBERS 5

UD_NATIVE(jlong, open)(JNIEnv *env, jclass type, jstring name)
{
    char what[128];
    int devices, error = ENODEV;
    const char *wanted = name ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
    struct ibv_context *context = NULL;
    if (name && !wanted)
        return -1; /* out of memory: thrown */
    struct ibv_device **list = ibv_get_device_list(&devices);
    for (int i = 0; list && i < devices && !context && error == ENODEV; i++)
        if (!wanted || !strcmp(ibv_get_device_name(list[i]), wanted)) {
            context = ibv_open_device(list[i]);
            error = errno;
        }
    if (list)
        ibv_free_device_list(list);
    snprintf(what, sizeof what, "ibv_open_device of %s", wanted ? wanted : "any device");
    if (wanted)
        (*env)->ReleaseStringUTFChars(env, name, wanted);
    errno = error;
    return disni_new(env, context, what);
}

UD_NATIVE(void, close)(JNIEnv *env, jclass type, jlong context)
{
    int error = ibv_close_device(disni_object(context));
    if (error)
        disni_throw(env, "ibv_close_device", error);
}

UD_NATIVE(jint, descriptor)(JNIEnv *env, jclass type, jlong context)
{
    return ((struct ibv_context *)disni_object(context))->cmd_fd;
}

UD_NATIVE(jint, completionVectors)(JNIEnv *env, jclass type, jlong context)
{
    return ((struct ibv_context *)disni_object(context))->num_comp_vectors;
}

/* State, active MTU in bytes, LID, length of the GID table, link layer. */
UD_NATIVE(jintArray, port)(JNIEnv *env, jclass type, jlong context, jint port)
{
    struct ibv_port_attr attributes;
    int error = ibv_query_port(disni_object(context), (uint8_t)port, &attributes);
    if (error) {
        disni_throw(env, "ibv_query_port", error);
        return NULL;
    }
    jint numbers[UD_PORT_NUMBERS] = {attributes.state, 128 << attributes.active_mtu, attributes.lid,
                                     attributes.gid_tbl_len, attributes.link_layer};
    jintArray array = (*env)->NewIntArray(env, UD_PORT_NUMBERS);
    if (array)
        (*env)->SetIntArrayRegion(env, array, 0, UD_PORT_NUMBERS, numbers);
    return array;
}

UD_NATIVE(jbyteArray, gid)(JNIEnv *env, jclass type, jlong context, jint port, jint index)
{
    union ibv_gid gid;
    if (ibv_query_gid(disni_object(context), (uint8_t)port, index, &gid)) {
        disni_throw(env, "ibv_query_gid", errno);
        return NULL;
    }
    jbyteArray array = (*env)->NewByteArray(env, sizeof gid);
    if (array)
        (*env)->SetByteArrayRegion(env, array, 0, sizeof gid, (const jbyte *)gid.raw);
    return array;
}

UD_NATIVE(jlong, createQp)
(JNIEnv *env, jclass type, jlong pd, jlong send_cq, jlong receive_cq, jint send_wrs, jint receive_wrs, jint sges,
 jint inline_bytes)
{
    struct ibv_qp_init_attr attributes = {.send_cq = disni_object(send_cq),
                                          .recv_cq = disni_object(receive_cq),
                                          .qp_type = IBV_QPT_UD,
                                          .cap = {.max_send_wr = (uint32_t)send_wrs,
                                                  .max_recv_wr = (uint32_t)receive_wrs,
                                                  .max_send_sge = (uint32_t)sges,
                                                  .max_recv_sge = (uint32_t)sges,
                                                  .max_inline_data = (uint32_t)inline_bytes}};
    return disni_new(env, ibv_create_qp(disni_object(pd), &attributes), "ibv_create_qp of a UD queue pair");
}

/* RESET to RTS; the masks are those of ibv_modify_qp(3) for UD. */
UD_NATIVE(void, ready)(JNIEnv *env, jclass type, jlong id, jint port, jint pkey_index, jint qkey, jint psn)
{
    struct ibv_qp *qp = disni_object(id);
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT,
                                     .pkey_index = (uint16_t)pkey_index,
                                     .port_num = (uint8_t)port,
                                     .qkey = (uint32_t)qkey,
                                     .sq_psn = (uint32_t)psn & 0xffffff};
    int error = ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    if (error) {
        disni_throw(env, "ibv_modify_qp to INIT", error);
        return;
    }
    attributes.qp_state = IBV_QPS_RTR;
    error = ibv_modify_qp(qp, &attributes, IBV_QP_STATE);
    if (error) {
        disni_throw(env, "ibv_modify_qp to RTR", error);
        return;
    }
    attributes.qp_state = IBV_QPS_RTS;
    error = ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
    if (error)
        disni_throw(env, "ibv_modify_qp to RTS", error);
}

UD_NATIVE(jint, number)(JNIEnv *env, jclass type, jlong qp)
{
    return (jint)((struct ibv_qp *)disni_object(qp))->qp_num;
}

UD_NATIVE(void, destroyQp)(JNIEnv *env, jclass type, jlong qp)
{
    int error = ibv_destroy_qp(disni_object(qp));
    if (error)
        disni_throw(env, "ibv_destroy_qp", error);
}

/* A destination without GID (null) is a local one, by LID. */
UD_NATIVE(jlong, createAh)
(JNIEnv *env, jclass type, jlong pd, jint port, jint lid, jint service_level, jbyteArray gid, jint gid_index,
 jint hop_limit)
{
    struct ibv_ah_attr attributes = {.dlid = (uint16_t)lid, .sl = (uint8_t)service_level, .port_num = (uint8_t)port};
    if (gid) {
        if ((*env)->GetArrayLength(env, gid) != sizeof attributes.grh.dgid.raw) {
            disni_throw(env, "ibv_create_ah: a GID has 16 bytes", EINVAL);
            return -1;
        }
        attributes.is_global = 1;
        attributes.grh.sgid_index = (uint8_t)gid_index;
        attributes.grh.hop_limit = (uint8_t)hop_limit;
        (*env)->GetByteArrayRegion(env, gid, 0, sizeof attributes.grh.dgid.raw, (jbyte *)attributes.grh.dgid.raw);
    }
    return disni_new(env, ibv_create_ah(disni_object(pd), &attributes), "ibv_create_ah");
}

UD_NATIVE(void, destroyAh)(JNIEnv *env, jclass type, jlong ah)
{
    int error = ibv_destroy_ah(disni_object(ah));
    if (error)
        disni_throw(env, "ibv_destroy_ah", error);
}
