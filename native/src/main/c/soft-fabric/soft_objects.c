#include "soft_objects.h"
#include "soft_fault.h"
#include "soft_memory.h"
#include "soft_multicast.h"
#include "soft_rc.h"
#include "soft_rq.h"
#include "soft_tag.h"
#include "soft_trouble.h"
#include "soft_window.h"
#include <stdlib.h>
#include <unistd.h>

void soft_add(struct soft_context *context, struct soft_object *object, enum soft_kind kind)
{
    object->kind = kind;
    soft_lock(&context->lock);
    object->next = &context->objects;
    object->previous = context->objects.previous;
    object->previous->next = object->next->previous = object;
    soft_unlock(&context->lock);
}

void soft_remove(struct soft_context *context, struct soft_object *object)
{
    soft_lock(&context->lock);
    object->previous->next = object->next;
    object->next->previous = object->previous;
    soft_unlock(&context->lock);
}

/* The descriptors of one object, at most three. */
static int descriptors(struct soft_object *object, int fds[3])
{
    if (object->kind == SOFT_CHANNEL) {
        struct soft_channel *channel = container_of(object, struct soft_channel, object);
        fds[0] = channel->base.fd;
        fds[1] = channel->event_fd;
        return 2;
    }
    if (object->kind == SOFT_QP) {
        struct soft_qp *qp = container_of(object, struct soft_qp, object);
        int n = 0;
        fds[n++] = qp->socket;
        if (qp->doorbell >= 0)
            fds[n++] = qp->doorbell;
        if (qp->number_socket >= 0)
            fds[n++] = qp->number_socket;
        return n;
    }
    if (object->kind == SOFT_GROUP) {
        fds[0] = container_of(object, struct soft_group, object)->socket;
        return 1;
    }
    return 0;
}

int soft_owned_fds(struct ibv_context *base, int *fds, int max)
{
    struct soft_context *context = soft_context_of(base);
    int count = 1;
    if (max > 0)
        fds[0] = base->async_fd;
    soft_lock(&context->lock);
    for (struct soft_object *object = context->objects.next; object != &context->objects; object = object->next) {
        int own[3], n = descriptors(object, own);
        for (int i = 0; i < n; i++, count++)
            if (count < max)
                fds[count] = own[i];
    }
    soft_unlock(&context->lock);
    int engine[2], n = soft_rc_engine_fds(engine);
    for (int i = 0; i < n; i++, count++)
        if (count < max)
            fds[count] = engine[i];
    return count;
}

static void free_object(struct soft_object *object)
{
    switch (object->kind) {
    case SOFT_QP: {
        struct soft_qp *qp = container_of(object, struct soft_qp, object);
        soft_rq_free(&qp->own_rq);
        soft_fault_free(qp->faults);
        soft_tag_free(qp);
        soft_rc_free(qp);
        free(qp);
        break;
    }
    case SOFT_SRQ: {
        struct soft_srq *srq = container_of(object, struct soft_srq, object);
        soft_rq_free(&srq->rq);
        free(srq);
        break;
    }
    case SOFT_CQ: {
        struct soft_cq *cq = container_of(object, struct soft_cq, object);
        free(cq->ring);
        free(cq->receivers);
        free(cq);
        break;
    }
    case SOFT_CHANNEL:
        free(container_of(object, struct soft_channel, object));
        break;
    case SOFT_AH:
        free(container_of(object, struct soft_ah, object));
        break;
    case SOFT_PD:
        free(container_of(object, struct soft_pd, object));
        break;
    case SOFT_GROUP:
        free(container_of(object, struct soft_group, object));
        break;
    case SOFT_MR:
        soft_mr_free(object);
        break;
    case SOFT_MW:
        free(container_of(object, struct soft_mw, object));
        break;
    }
}

static void free_context(struct ibv_context *base)
{
    struct soft_context *context = soft_context_of(base);
    soft_trouble_closed(context);
    for (struct soft_object *object = context->objects.next, *next; object != &context->objects; object = next) {
        next = object->next;
        free_object(object);
    }
    while (context->async_first) {
        struct soft_async *first = context->async_first;
        context->async_first = first->next;
        free(first);
    }
    soft_memory_free(context);
    free(context);
}

/* Called after a restart, when the descriptors are already gone: frees memory only. */
void soft_forget(struct ibv_context *base)
{
    soft_rc_engine_leave(soft_context_of(base));
    soft_rc_engine_forget();
    free_context(base);
}

/* As the kernel does, closing a device ends all that is still open on it (ibv_close_device(3)). */
int soft_close_device(struct ibv_context *base)
{
    struct soft_context *context = soft_context_of(base);
    soft_rc_engine_leave(context);
    for (struct soft_object *object = context->objects.next; object != &context->objects; object = object->next) {
        int own[3], n = descriptors(object, own);
        for (int i = 0; i < n; i++)
            close(own[i]);
    }
    close(base->async_fd);
    free_context(base);
    return 0;
}
