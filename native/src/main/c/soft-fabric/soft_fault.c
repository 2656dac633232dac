#include "soft_fault.h"
#include "soft_rc_wire.h"
#include <stdlib.h>
#include <string.h>

#define HOLD_POLLS 64u

struct soft_faults {
    struct soft_lock lock;
    uint64_t random;
    uint64_t loss, duplicate, reorder; /* of 2^32 */
    bool holding;
    unsigned polls;
    struct sockaddr_in to;
    size_t length;
    /* the larger of the headers */
    char held[sizeof(struct soft_rc_wire) + sizeof(struct soft_tag) + SOFT_XRC_BYTES + SOFT_MTU];
};

/* SplitMix64 (Steele, Lea, Flood 2014): every QP has a stream of its own, named by seed, LID and the
 * order in which the process made its QPs, so that a run can be repeated whatever its QPNs are. */
static uint64_t next_random(struct soft_faults *faults)
{
    uint64_t z = faults->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

int soft_fault_init(struct soft_qp *qp)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    const struct soft_config *config = &context->config;
    uint32_t ordinal = __atomic_fetch_add(&context->ordinal, 1, __ATOMIC_RELAXED);
    if (config->loss <= 0 && config->duplicate <= 0 && config->reorder <= 0)
        return 0;
    struct soft_faults *faults = calloc(1, sizeof *faults);
    if (!faults)
        return ENOMEM;
    const double scale = 4294967296.0 / 100;
    faults->loss = (uint64_t)(config->loss * scale);
    faults->duplicate = (uint64_t)(config->duplicate * scale);
    faults->reorder = (uint64_t)(config->reorder * scale);
    faults->random = config->seed * 0x2545f4914f6cdd1dull + ((uint64_t)config->lid << 32 | ordinal);
    qp->faults = faults;
    qp->unusual = true;
    return 0;
}

void soft_fault_free(struct soft_faults *faults)
{
    free(faults);
}

static void hold(struct soft_faults *faults, const struct msghdr *message)
{
    faults->to = *(const struct sockaddr_in *)message->msg_name;
    faults->length = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        memcpy(faults->held + faults->length, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        faults->length += message->msg_iov[i].iov_len;
    }
    faults->polls = 0;
    faults->holding = true;
}

static void release(struct soft_qp *qp, struct soft_faults *faults)
{
    if (!faults->holding)
        return;
    faults->holding = false;
    sendto(qp->socket, faults->held, faults->length, MSG_DONTWAIT, (struct sockaddr *)&faults->to, sizeof faults->to);
}

void soft_fault_release(struct soft_qp *qp)
{
    struct soft_faults *faults = qp->faults;
    if (!faults)
        return;
    soft_lock(&faults->lock);
    release(qp, faults);
    soft_unlock(&faults->lock);
}

/* Three numbers are drawn for each datagram whatever comes of them, so that the n-th decision
 * depends on the seed alone. */
void soft_fault_send(struct soft_qp *qp, const struct msghdr *message)
{
    struct soft_faults *faults = qp->faults;
    soft_lock(&faults->lock);
    bool lose = next_random(faults) >> 32 < faults->loss;
    bool twice = next_random(faults) >> 32 < faults->duplicate;
    bool late = next_random(faults) >> 32 < faults->reorder;
    if (!lose && late && !faults->holding) {
        hold(faults, message);
    } else {
        for (int copies = lose ? 0 : twice ? 2 : 1; copies; copies--)
            sendmsg(qp->socket, message, MSG_DONTWAIT); /* an error is one more loss */
        release(qp, faults);
    }
    soft_unlock(&faults->lock);
}

static void for_each(struct soft_cq *cq, bool now)
{
    struct soft_context *context = soft_context_of(cq->base.context);
    soft_lock(&context->lock);
    for (struct soft_object *o = context->objects.next; o != &context->objects; o = o->next) {
        struct soft_qp *qp = o->kind == SOFT_QP ? container_of(o, struct soft_qp, object) : NULL;
        if (!qp || !qp->faults || (qp->send_cq != cq && qp->recv_cq != cq))
            continue;
        soft_lock(&qp->faults->lock);
        if (now || ++qp->faults->polls >= HOLD_POLLS)
            release(qp, qp->faults);
        soft_unlock(&qp->faults->lock);
    }
    soft_unlock(&context->lock);
}

void soft_fault_tick(struct soft_cq *cq)
{
    for_each(cq, false);
}

void soft_fault_flush(struct soft_cq *cq)
{
    for_each(cq, true);
}
