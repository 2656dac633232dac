#include "soft_refuse.h"
#include "soft_socket.h"
#include <pthread.h>
#include <stdio.h>

/* From so many on the kernel drops them, as far as it can tell: they take no room in the socket's buffer any more, and
 * are not counted. */
enum { MANY = 1024 };

const char *soft_refusal_text(enum soft_refusal why)
{
    static const char *const texts[SOFT_REFUSALS] = {
        [SOFT_FROM_ELSEWHERE] = "its source address does not match its sender",
        [SOFT_WRONG_TAG] = "its tag was not made with this job's key",
        [SOFT_REPLAYED] = "it was received twice",
        [SOFT_STRANGER] = "its sender is not an endpoint of this job",
    };
    return texts[why];
}

void soft_refused(struct soft_qp *qp, enum soft_refusal why, uint16_t lid, uint32_t qpn)
{
    static atomic_bool said;
    void (*told)(enum soft_refusal, uint16_t, uint32_t) =
        __atomic_load_n(&soft_context_of(qp->base.context)->refused, __ATOMIC_RELAXED);
    if (told)
        told(why, lid, qpn);
    else if (!atomic_exchange(&said, true))
        fprintf(stderr,
                "udckpt: soft0: dropped a datagram that claims to be from LID 0x%04x QPN 0x%06x: %s (further ones "
                "are not reported)\n",
                lid, qpn, soft_refusal_text(why));
}

void soft_refused_part(struct soft_qp *qp)
{
    soft_refused(qp, SOFT_FROM_ELSEWHERE, 0, 0);
    /* Whoever changes its state has the mutex: then it is the next one's turn. */
    if (++qp->from_elsewhere < MANY || qp->refuses || pthread_mutex_trylock(&qp->base.mutex))
        return;
    enum ibv_qp_state state = soft_state(&qp->base);
    int error = 0;
    if (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQE) {
        qp->refuses = true;
        error =
            qp->rc ? soft_socket_accept_peer(qp, qp->attr.dest_qp_num, qp->attr.ah_attr.dlid) : soft_socket_accept(qp);
    }
    pthread_mutex_unlock(&qp->base.mutex);
    if (error)
        fprintf(
            stderr,
            "udckpt: soft0: QPN 0x%06x: the filter that keeps forged datagrams out of the socket's buffer: errno %d\n",
            qp->base.qp_num, error);
}
