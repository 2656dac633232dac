/* A plugin that is linked with libibverbs, for found_client.c, which is not. */
#define _GNU_SOURCE
#include "found_verbs.h"
#include <dlfcn.h>
#include <stdlib.h>

/* Half of the pointers are relocations of data, half of the calls go by the procedure linkage table. */
static struct ibv_context *open_device(struct ibv_device *device)
{
    return ibv_open_device(device);
}

static struct ibv_cq *create_cq(struct ibv_context *context, int entries, void *own, struct ibv_comp_channel *channel,
                                int vector)
{
    return ibv_create_cq(context, entries, own, channel, vector);
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
    return ibv_create_qp(pd, attributes);
}

__attribute__((visibility("default"))) void plugin_verbs(struct found_verbs *verbs)
{
    static const struct found_verbs linked = {
#define X(name, version) .name = name,
        FOUND_VERBS(X)
#undef X
    };
    *verbs = linked;
    verbs->ibv_open_device = open_device;
    verbs->ibv_create_cq = create_cq;
    verbs->ibv_create_qp = create_qp;
}

/* A function by RTLD_DEFAULT or RTLD_NEXT, as seen from here; libibverbs comes behind the plugin. */
__attribute__((visibility("default"))) void *plugin_find(void *handle, const char *name)
{
    return dlsym(handle, name);
}

/* A C library function that has other things to say below the library: whose it is. */
__attribute__((visibility("default"))) const void *plugin_getenv(void)
{
    return (const void *)getenv;
}
