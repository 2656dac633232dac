/* A queue pair is at the port that INIT names, long after it was given its number. A number is unique in a device, and
 * here it is a UDP port of an address: so the socket at the first port's address is kept, deaf, as long as the queue
 * pair is at another one, and whoever has that socket finds the same number free at all other ports. */
#include "soft_port.h"
#include "soft_channel.h"
#include "soft_filter.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_socket.h"
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

struct sockets {
    int socket, doorbell;
};

static int open_doorbell(const struct soft_qp *qp, const struct soft_config *config, uint16_t lid)
{
    return qp->doorbell < 0 ? -1 : soft_socket_doorbell(config, lid, qp->base.qp_num);
}

/* Opens the sockets of the new port. Returns 0 or an errno value. */
static int open_sockets(const struct soft_qp *qp, uint16_t lid, struct sockets *opened)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    bool held = lid == config->lid;
    opened->socket = held ? qp->number_socket : soft_socket_bound(config->network, lid, qp->base.qp_num);
    if (opened->socket < 0)
        return errno;
    opened->doorbell = open_doorbell(qp, config, lid);
    int error = qp->doorbell >= 0 && opened->doorbell < 0 ? errno : soft_filter_refuse(opened->socket);
    if (!error && !held) {
        soft_socket_enlarge(opened->socket);
        soft_socket_send_groups_from(opened->socket, config, lid);
    }
    if (error && !held)
        close(opened->socket);
    if (error && opened->doorbell >= 0)
        close(opened->doorbell);
    return error;
}

static struct sockets exchange(struct soft_qp *qp, const struct sockets *opened)
{
    soft_lock(&qp->recv_cq->receive_lock);
    struct sockets old = {qp->socket, qp->doorbell};
    qp->socket = opened->socket;
    qp->doorbell = opened->doorbell;
    qp->socket_armed = qp->doorbell_armed = false;
    soft_unlock(&qp->recv_cq->receive_lock);
    return old;
}

/* Closing alone would not do it: a forked child may have the socket, too. */
static void unwatch(const struct soft_channel *channel, const struct sockets *old)
{
    epoll_ctl(channel->base.fd, EPOLL_CTL_DEL, old->socket, NULL);
    if (old->doorbell >= 0)
        epoll_ctl(channel->base.fd, EPOLL_CTL_DEL, old->doorbell, NULL);
}

static int watch(struct soft_qp *qp, const struct sockets *old)
{
    struct soft_channel *channel = qp->recv_cq->base.channel ? soft_channel_of(qp->recv_cq->base.channel) : NULL;
    if (qp->rc)
        return soft_rc_engine_add(qp->rc);
    if (!channel)
        return 0;
    unwatch(channel, old);
    return soft_channel_watch(channel, qp);
}

int soft_port_move(struct soft_qp *qp, uint8_t port)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    uint16_t lid = soft_port_lid(config, port);
    struct sockets opened = {-1, -1};
    if (lid == qp->lid)
        return 0;
    int error = open_sockets(qp, lid, &opened);
    if (error)
        return error;
    if (qp->rc)
        soft_rc_engine_remove(qp->rc);
    struct sockets old = exchange(qp, &opened);
    error = watch(qp, &old);
    if (qp->lid == config->lid)
        qp->number_socket = old.socket;
    else
        close(old.socket);
    if (lid == config->lid)
        qp->number_socket = -1;
    if (old.doorbell >= 0)
        close(old.doorbell);
    qp->lid = lid;
    soft_fill_header(qp);
    return error;
}
