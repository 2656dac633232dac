/* The real libibverbs behind our own exported functions: its symbols by version, and the sign that a thread is inside
 * it. libibverbs and its providers call their own exported functions through the symbol table, where ours are found
 * first; while real_inside is set, ours hand such a call on to the real one (top_device(), and the few outside of the
 * table). */
#pragma once
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#undef ibv_query_port

#define REAL_FUNCTIONS(X) \
    X(ibv_get_device_list, "IBVERBS_1.1") \
    X(ibv_free_device_list, "IBVERBS_1.1") \
    X(ibv_get_device_guid, "IBVERBS_1.1") \
    X(ibv_open_device, "IBVERBS_1.1") \
    X(ibv_close_device, "IBVERBS_1.1") \
    X(ibv_query_device, "IBVERBS_1.1") \
    X(ibv_query_port, "IBVERBS_1.1") \
    X(ibv_query_gid, "IBVERBS_1.1") \
    X(_ibv_query_gid_ex, "IBVERBS_1.11") \
    X(ibv_query_pkey, "IBVERBS_1.1") \
    X(ibv_get_async_event, "IBVERBS_1.1") \
    X(ibv_ack_async_event, "IBVERBS_1.1") \
    X(ibv_alloc_pd, "IBVERBS_1.1") \
    X(ibv_dealloc_pd, "IBVERBS_1.1") \
    X(ibv_reg_mr_iova2, "IBVERBS_1.8") \
    X(ibv_dereg_mr, "IBVERBS_1.1") \
    X(ibv_create_comp_channel, "IBVERBS_1.0") \
    X(ibv_destroy_comp_channel, "IBVERBS_1.0") \
    X(ibv_create_cq, "IBVERBS_1.1") \
    X(ibv_resize_cq, "IBVERBS_1.1") \
    X(ibv_destroy_cq, "IBVERBS_1.1") \
    X(ibv_get_cq_event, "IBVERBS_1.1") \
    X(ibv_ack_cq_events, "IBVERBS_1.1") \
    X(ibv_create_srq, "IBVERBS_1.1") \
    X(ibv_modify_srq, "IBVERBS_1.1") \
    X(ibv_query_srq, "IBVERBS_1.1") \
    X(ibv_destroy_srq, "IBVERBS_1.1") \
    X(ibv_create_qp, "IBVERBS_1.1") \
    X(ibv_modify_qp, "IBVERBS_1.1") \
    X(ibv_query_qp, "IBVERBS_1.1") \
    X(ibv_destroy_qp, "IBVERBS_1.1") \
    X(ibv_create_ah, "IBVERBS_1.1") \
    X(ibv_destroy_ah, "IBVERBS_1.1") \
    X(ibv_attach_mcast, "IBVERBS_1.1") \
    X(ibv_detach_mcast, "IBVERBS_1.1") \
    X(ibv_resolve_eth_l2_from_gid, "IBVERBS_1.1") \
    X(ibv_qp_to_qp_ex, "IBVERBS_1.6")

/* Private to rdma-core, called by libibverbs and its providers only. */
extern int ibv_query_gid_type(struct ibv_context *, uint8_t port, unsigned int index, unsigned int *type);
extern struct ibv_context *verbs_open_device(struct ibv_device *, void *private_data);
#define REAL_PRIVATE_FUNCTIONS(X) \
    X(ibv_query_gid_type, "IBVERBS_PRIVATE_34") \
    X(verbs_open_device, "IBVERBS_PRIVATE_34")

struct real_library {
#define X(name, version) __typeof__(&name) name;
    REAL_FUNCTIONS(X)
    REAL_PRIVATE_FUNCTIONS(X)
#undef X
};

/* How it is loaded: the interposer's dlopen(3) and dlvsym(3), which are on a floor above. Set before the first
 * operation. */
struct real_loader {
    void *(*open)(const char *file, int mode);
    void *(*symbol)(void *handle, const char *name, const char *version);
};
void real_library_by(const struct real_loader *loader);

/* Loads it once. NULL with errno ENOSYS when it is not there or lacks a function, which is said. */
const struct real_library *real_library(void);

/* How deep this thread is inside the real library; a signal handler that calls a verb in there is not ours to tell
 * apart. */
extern __thread int real_inside __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Calls into it. Only where the library is loaded for sure: with an object of its own in hand. */
#define REAL_CALL(call) \
    ({ \
        real_inside++; \
        __typeof__(call) real_result_ = (call); \
        real_inside--; \
        real_result_; \
    })
