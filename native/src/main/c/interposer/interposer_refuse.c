#include "interposer.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 128
#define LACKS 32 /* as many as there are calls of interposer_lacks() */

static int said_before(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *said[NAMES];
    int found = 0, i = 0;
    pthread_mutex_lock(&lock);
    for (; i < NAMES && said[i] && !found; i++)
        found = !strcmp(said[i], name);
    if (!found && i < NAMES)
        said[i] = name;
    pthread_mutex_unlock(&lock);
    return found;
}

int interposer_refuse(const char *name, const char *advice)
{
    if (!said_before(name))
        fprintf(stderr, "udckpt: %s is not supported: %s\n", name, advice);
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

static struct {
    pthread_mutex_t lock;
    pid_t process; /* a forked child has nothing to tell of its parent */
    unsigned count;
    struct lack {
        const char *name, *advice;
    } asked[LACKS];
} lacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whoever has failed may have missed it. */
static void tell_lacks(int code, void *unused)
{
    for (unsigned i = 0; code && lacks.process == getpid() && i < lacks.count; i++)
        fprintf(stderr, "udckpt: before it failed, this process asked for %s, which is not supported: %s\n",
                lacks.asked[i].name, lacks.asked[i].advice);
}

static void remember_lack(const char *name, const char *advice)
{
    for (unsigned i = 0; i < lacks.count; i++)
        if (lacks.asked[i].name == name)
            return;
    if (lacks.process != getpid() && !on_exit(tell_lacks, NULL))
        lacks.process = getpid();
    if (lacks.count < LACKS)
        lacks.asked[lacks.count++] = (struct lack){name, advice};
}

int interposer_lacks(const char *name, const char *advice)
{
    pthread_mutex_lock(&lacks.lock);
    remember_lack(name, advice);
    pthread_mutex_unlock(&lacks.lock);
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

/* Extended operations are called through the context, by inline functions in verbs.h. Where NULL
 * already means EOPNOTSUPP and libraries probe for it, NULL stays; what a
 * program asks for on purpose is refused by name. */
static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    interposer_refuse("ibv_open_xrcd", "XRC is supported only on the soft fabric; use RC");
    return NULL;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    interposer_refuse("ibv_create_srq_ex", "only basic shared receive queues are checkpointed");
    return NULL;
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
    interposer_refuse("ibv_create_wq", "raw work queues are not checkpointed");
    return NULL;
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    interposer_refuse("ibv_open_qp", "shared queue pairs are not checkpointed");
    return NULL;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    interposer_lacks("ibv_alloc_dm", "device memory is not checkpointed");
    return NULL;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    interposer_refuse("ibv_create_flow", "flow steering is not checkpointed");
    return NULL;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    interposer_refuse("ibv_alloc_mw", "the device has no memory windows");
    return NULL;
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
    interposer_lacks("ibv_create_counters", "counters of a device are not checkpointed");
    return NULL;
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
                                                      struct ibv_flow_action_esp_attr *attr)
{
    interposer_refuse("ibv_create_flow_action_esp", "flow steering is not checkpointed");
    return NULL;
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *attr)
{
    interposer_refuse("ibv_create_rwq_ind_table", "raw work queues are not checkpointed");
    return NULL;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    interposer_lacks("ibv_alloc_null_mr", "only memory of the process can be registered");
    return NULL;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    return interposer_lacks("ibv_modify_cq", "moderation of events is not virtualized");
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    return interposer_lacks("ibv_modify_qp_rate_limit", "rate limits are not virtualized");
}

static int post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad)
{
    *bad = op;
    return interposer_refuse("ibv_post_srq_ops", "tag matching is not checkpointed");
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    return interposer_refuse("ibv_get_srq_num", "XRC is supported only on the soft fabric");
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    return interposer_lacks("ibv_query_rt_values_ex", "a device's clock does not continue after a restart");
}

#define FILL(field, function) \
    if (!(field)) \
    (field) = (function)

void interposer_refuse_extended(struct ibv_context *context)
{
    FILL(context->ops.alloc_mw, alloc_mw);
    if (context->abi_compat != __VERBS_ABI_IS_EXTENDED)
        return;
    struct verbs_context *extended = verbs_get_ctx(context);
    FILL(extended->open_xrcd, open_xrcd);
    FILL(extended->create_srq_ex, create_srq_ex);
    FILL(extended->create_wq, create_wq);
    FILL(extended->open_qp, open_qp);
    FILL(extended->alloc_dm, alloc_dm);
    FILL(extended->ibv_create_flow, create_flow);
    FILL(extended->create_counters, create_counters);
    FILL(extended->create_flow_action_esp, create_flow_action_esp);
    FILL(extended->create_rwq_ind_table, create_rwq_ind_table);
    FILL(extended->alloc_null_mr, alloc_null_mr);
    FILL(extended->modify_cq, modify_cq);
    FILL(extended->modify_qp_rate_limit, modify_qp_rate_limit);
    FILL(extended->post_srq_ops, post_srq_ops);
    FILL(extended->query_rt_values, query_rt_values);
    FILL(extended->get_srq_num, get_srq_num);
}
