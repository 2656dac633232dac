/* The native half of DiSNI 2.0 (com.ibm.disni, JNI version 32): what its class NativeDispatcher declares, over
 * libibverbs and librdmacm. An object id is the address of the verbs or rdma_cm object; 0 is never one. Failures are
 * java.io.IOException, whose message names the verb and the error. */
#ifndef DISNI_H
#define DISNI_H

#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

#define DISNI_VERSION 32
#define DISNI_SEND_SGES 4 /* _createQP of DiSNI passes no number of scatter/gather elements */

/* The JNI name of a native method of DiSNI's dispatcher; JNI writes its leading underscore as _1 (JNI specification,
 * chapter 2, "Resolving Native Method Names"). */
#define DISNI(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* The same for the extension org.udckpt.ud.disni.UdNative. */
#define UD_NATIVE(type, name) JNIEXPORT type JNICALL Java_org_udckpt_ud_disni_UdNative_##name

/* Throws IOException("WHAT: error text"). */
void disni_throw(JNIEnv *env, const char *what, int error);

/* True when the id names an object; otherwise throws IOException("WHAT: the NOUN is null"). */
int disni_is(JNIEnv *env, jlong id, const char *what, const char *noun);

/* The id of a new object, or an exception with errno when there is none. */
jlong disni_new(JNIEnv *env, void *object, const char *what);

static inline void *disni_object(jlong id)
{
    return (void *)(intptr_t)id;
}

/* Waits until the descriptor can be read: 1, 0 after the time (milliseconds; negative: no limit), -1 with errno.
 * A signal, or a stop by a checkpoint, does not end the wait. */
int disni_await(int fd, int timeout_ms);

#endif
