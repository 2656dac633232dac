/* The exported ibv_* functions. They have no version, so that they satisfy references to any of
 * libibverbs' versions (ld.so(8): a preloaded library is searched first). */
#pragma once
#define _GNU_SOURCE
#include "device/verbs_device.h"
#include <errno.h>

/* libibverbs wraps these three in macros of the same name. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define EXPORT __attribute__((visibility("default")))

/* Says once for each name that it is not supported, and what to do; sets errno to EOPNOTSUPP and
 * returns it. `name` must be a string literal. */
int interposer_refuse(const char *name, const char *advice);

/* The same of a capability that devices may lack and programs ask for to see whether it is there: nothing is said, as
 * by such a device, unless the process ends with an error. */
int interposer_lacks(const char *name, const char *advice);

#define REFUSE(name) interposer_refuse(name, "the device does not support it")

/* Calls an operation that returns 0 or an errno value. */
#define CALL(operation, ...) \
    (top_device()->operation ? top_device()->operation(__VA_ARGS__) : REFUSE("ibv_" #operation))
/* Calls an operation that returns a pointer. */
#define MAKE(operation, ...) \
    (top_device()->operation ? top_device()->operation(__VA_ARGS__) : (REFUSE("ibv_" #operation), NULL))

/* What `caller` would call under that name without this library; NULL: nothing (interposer_next.c). */
void *interposer_next(const char *name, const void *caller);

/* System calls that are noted: as syscall(3) (interposer_rings.c, interposer_aio.c). */
long interposer_ring_call(long number, long a, long b, long c, long d);
long interposer_aio_call(long number, long a, long b, long c);

/* Gives a context the device's memory windows (interposer_windows.c). */
void interposer_fill_windows(struct ibv_context *context);
/* The same of thread domains, parent domains and advice (interposer_domain.c). */
void interposer_fill_domains(struct ibv_context *context);
/* The same of XRC (interposer_xrc.c). */
void interposer_fill_xrc(struct ibv_context *context);
/* A queue pair of type XRC_RECV; NULL with errno. */
struct ibv_qp *interposer_create_target(struct ibv_qp_init_attr_ex *attr);
/* Gives the extended operations that nothing here offers a named refusal. */
void interposer_refuse_extended(struct ibv_context *context);
