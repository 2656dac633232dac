/* Devices and open contexts. */
#include "virtual.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "data-path/generic_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The job's own copy of each device: it outlives the real list. libmlx5 looks behind the struct, hence the room. */
enum { MAX_DEVICES = 16 };
static struct v_device {
    struct ibv_device device;
    char behind[256];
    struct v_identity identity;
} devices[MAX_DEVICES];

static struct ibv_device *own_copy(const struct ibv_device *real)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (!devices[i].device.name[0]) {
            devices[i].device = *real;
            devices[i].identity.place = devices[i].identity.real_place = (unsigned)i;
        }
        if (!strcmp(devices[i].device.name, real->name))
            return &devices[i].device;
    }
    control_log("more than %d verbs devices: %s is not used", MAX_DEVICES, real->name);
    return NULL;
}

struct ibv_device **virtual_get_device_list(int *count)
{
    int found = 0, used = 0;
    if (!gate_enter())
        return NULL;
    struct ibv_device **real = lower_device->get_device_list(&found);
    struct ibv_device **list = real ? calloc(found + 1, sizeof *list) : NULL;
    if (list) {
        pthread_mutex_lock(&virtual_mutex);
        for (int i = 0; i < found; i++)
            if ((list[used] = own_copy(real[i])))
                used++;
        pthread_mutex_unlock(&virtual_mutex);
    }
    if (real)
        lower_device->free_device_list(real);
    if (count)
        *count = used;
    gate_leave();
    return list;
}

void virtual_free_device_list(struct ibv_device **list)
{
    free(list);
}

static struct ibv_context *open_real(const char *name)
{
    int count = 0;
    struct ibv_context *context = NULL;
    struct ibv_device **list = lower_device->get_device_list(&count);
    errno = ENODEV;
    for (int i = 0; list && i < count; i++)
        if (!strcmp(list[i]->name, name)) {
            context = lower_device->open_device(list[i]);
            break;
        }
    int saved = errno;
    if (list)
        lower_device->free_device_list(list);
    errno = saved;
    return context;
}

struct ibv_context *virtual_open_place(struct v_identity *identity)
{
    int count = 0;
    struct ibv_device **list = lower_device->get_device_list(&count);
    errno = ENODEV;
    if (list && count > 0)
        identity->real_place = identity->place % (unsigned)count;
    struct ibv_context *context = list && count > 0 ? lower_device->open_device(list[identity->real_place]) : NULL;
    int saved = errno;
    if (list)
        lower_device->free_device_list(list);
    errno = saved;
    return context;
}

static void fill(struct v_context *context, struct ibv_device *device)
{
    struct ibv_context *open = &context->verbs.context;
    context->verbs.sz = sizeof context->verbs;
    context->verbs.query_port = virtual_query_port;
    open->device = device;
    open->cmd_fd = -1;
    open->async_fd = context->raise_fd = -1;
    open->num_comp_vectors = context->real->num_comp_vectors;
    open->abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&open->mutex, NULL);
    const struct fused_path *fused = virtual_fused_path();
    open->ops.poll_cq = fused ? fused->poll_cq : generic_poll_cq;
    open->ops.req_notify_cq = virtual_req_notify_cq;
    open->ops.post_send = fused ? fused->post_send : generic_post_send;
    open->ops.post_recv = fused ? fused->post_recv : generic_post_recv;
    open->ops.post_srq_recv = fused ? fused->post_srq_recv : generic_post_srq_recv;
    list_init(&context->pds);
    list_init(&context->mrs);
    list_init(&context->mws);
    list_init(&context->channels);
    list_init(&context->cqs);
    list_init(&context->srqs);
    list_init(&context->qps);
    memcpy(context->device, device->name, sizeof context->device - 1); /* both are 64 bytes */
}

/* Takes what the job shall know of the host, and the descriptor for asynchronous events. Returns 0 or an errno. */
static int connect_context(struct v_context *context)
{
    pthread_mutex_lock(&virtual_mutex);
    int error = virtual_learn_identity(context);
    if (!error)
        error = virtual_learn_real(context);
    pthread_mutex_unlock(&virtual_mutex);
    for (unsigned i = 0; !error && i < context->identity->port_count; i++)
        if (context->identity->ports[i].usable && !context->identity->ports[i].now.active)
            context->ports_down |= 1u << i; /* as it finds them */
    return error ? error : virtual_open_async(context);
}

static struct ibv_context *open_virtual(struct ibv_device *device)
{
    struct v_context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->identity = &((struct v_device *)device)->identity;
    context->real = open_real(device->name);
    if (!context->real) {
        free(context);
        return NULL;
    }
    fill(context, device);
    int error = connect_context(context);
    if (error) {
        virtual_close_async(context);
        lower_device->close_device(context->real);
        free(context);
        errno = error;
        return NULL;
    }
    pthread_mutex_lock(&virtual_mutex);
    list_append(&virtual_contexts, &context->link);
    generic_learn_calls();
    /* a program that a restored rank has started: the job's incarnation is not its first */
    if (control.generation && !virtual_moved)
        virtual_moved = 1;
    pthread_mutex_unlock(&virtual_mutex);
    return &context->verbs.context;
}

struct ibv_context *virtual_open_device(struct ibv_device *device)
{
    if (!gate_enter())
        return NULL;
    struct ibv_context *context = open_virtual(device);
    gate_leave();
    return context;
}

static int is_empty(const struct v_context *context)
{
    const struct v_link *const objects[] = {&context->pds, &context->mrs,  &context->mws, &context->channels,
                                            &context->cqs, &context->srqs, &context->qps};
    for (unsigned i = 0; i < sizeof objects / sizeof *objects; i++)
        if (objects[i]->next != objects[i])
            return 0;
    return 1;
}

int virtual_close_device(struct ibv_context *open)
{
    struct v_context *context = context_of(open);
    if (!gate_enter())
        return -1;
    pthread_mutex_lock(&virtual_mutex);
    /* first: another thread that goes through the list would find a real one that is gone */
    list_remove(&context->link);
    pthread_mutex_unlock(&virtual_mutex);
    int error = lower_device->close_device(context->real);
    if (error) {
        pthread_mutex_lock(&virtual_mutex);
        list_append(&virtual_contexts, &context->link);
        pthread_mutex_unlock(&virtual_mutex);
    } else {
        FOR_EACH(struct v_qp, link, qp, &context->qps)
        virtual_unregister_qp(qp); /* the device has ended what was still open */
        virtual_close_async(context);
        virtual_forget_numbers(context);
        context->real = NULL;
        if (is_empty(context))
            free(context);
    }
    gate_leave();
    return error;
}
