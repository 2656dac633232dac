/* Thread domains and parent domains: a program's word that it locks by itself, and where a device may take memory from.
 * The devices here have use for neither, so a thread domain is nothing, and a parent domain is the protection domain
 * that it is made of, once more. */
#include "interposer.h"
#include <pthread.h>
#include <stdlib.h>

struct alias {
    struct ibv_pd *pd;
    struct alias *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct alias *aliases; /* one for each parent domain */

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    struct ibv_td *td = attr->comp_mask ? NULL : calloc(1, sizeof *td);
    if (td)
        td->context = context;
    else
        errno = attr->comp_mask ? EINVAL : ENOMEM;
    return td;
}

static int dealloc_td(struct ibv_td *td)
{
    free(td);
    return 0;
}

/* Allocators of the program's own are for a provider's rings, of which there are none to place. */
static struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
    if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
        interposer_refuse("ibv_alloc_parent_domain with allocators",
                          "queues have no memory that a program could allocate");
        return NULL;
    }
    struct alias *alias = attr->pd && !(attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
                              ? malloc(sizeof *alias)
                              : NULL;
    if (!alias) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    *alias = (struct alias){attr->pd, aliases};
    aliases = alias;
    pthread_mutex_unlock(&lock);
    return attr->pd;
}

/* ibv_dealloc_pd(3) is for both: the protection domain goes with the last. */
EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    pthread_mutex_lock(&lock);
    struct alias **link = &aliases;
    while (*link && (*link)->pd != pd)
        link = &(*link)->next;
    struct alias *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
    return found ? 0 : CALL(dealloc_pd, pd);
}

/* ibv_advise_mr(3): no device pages memory in, so there is nothing to prefetch. */
static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sges,
                     uint32_t count)
{
    if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
        return EOPNOTSUPP;
    return flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || !count ? EINVAL : 0;
}

void interposer_fill_domains(struct ibv_context *context)
{
    if (context->abi_compat != __VERBS_ABI_IS_EXTENDED || !top_device()->extends)
        return;
    struct verbs_context *extended = verbs_get_ctx(context);
    extended->alloc_td = alloc_td;
    extended->dealloc_td = dealloc_td;
    extended->alloc_parent_domain = alloc_parent_domain;
    extended->advise_mr = advise_mr;
}
