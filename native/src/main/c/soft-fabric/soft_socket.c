#include "soft_socket.h"
#include "soft_filter.h"
#include "soft_multicast.h"
#include "soft_trouble.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (16 << 20)

int soft_socket_refuse(struct soft_qp *qp)
{
    int error = soft_filter_refuse(qp->socket);
    return error ? error : soft_multicast_refuse(qp);
}

static bool is_cut_off(const struct soft_qp *qp)
{
    const struct soft_context *context = soft_context_of(qp->base.context);
    return soft_port_is_down(context, qp->lid - context->config.lid + 1u);
}

int soft_socket_accept(struct soft_qp *qp)
{
    if (is_cut_off(qp))
        return soft_socket_refuse(qp);
    int error = soft_socket_accept_number(qp, qp->socket, qp->base.qp_num);
    return error ? error : soft_multicast_accept(qp);
}

int soft_socket_accept_number(struct soft_qp *qp, int fd, uint32_t number)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    return soft_filter_datagrams(fd, &(struct soft_filter){.magic = soft_wire_magic(config),
                                                           .header = soft_header_bytes(config),
                                                           .network = config->network,
                                                           .number = number,
                                                           .qkey = qp->attr.qkey,
                                                           .refuses = qp->refuses});
}

int soft_socket_accept_peer(struct soft_qp *qp, uint32_t qpn, uint16_t lid)
{
    if (is_cut_off(qp))
        return soft_filter_refuse(qp->socket);
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    return soft_filter_peer(qp->socket, &(struct soft_filter){.magic = soft_rc_magic(config),
                                                              .header = soft_rc_header_bytes(config),
                                                              .network = config->network,
                                                              .number = qp->base.qp_num,
                                                              .peer = qpn,
                                                              .peer_lid = lid,
                                                              .refuses = qp->refuses});
}

/* SO_RCVBUFFORCE goes beyond net.core.rmem_max and needs CAP_NET_ADMIN; without it the limit holds,
 * and more datagrams are lost under load, which UD allows. */
void soft_socket_enlarge(int fd)
{
    int bytes = BUFFER_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

int soft_socket_bound(uint32_t network, uint16_t lid, uint32_t qpn)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)qpn), .sin_addr.s_addr = soft_host(network, lid)};
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int soft_socket_doorbell(const struct soft_config *config, uint16_t lid, uint32_t qpn)
{
    int small = 1; /* the kernel's least: a few doorbells wake as well as many */
    int fd = soft_socket_bound(config->doorbell_network, lid, qpn);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    return fd;
}

/* Both sockets of one QPN, or -1 with errno. */
static int try_qpn(struct soft_qp *qp, uint32_t qpn)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    qp->socket = soft_socket_bound(config->network, qp->lid, qpn);
    if (qp->socket < 0)
        return -1;
    if (!qp->recv_cq->base.channel || !config->doorbell_network || qp->base.qp_type != IBV_QPT_UD)
        return 0;
    qp->doorbell = soft_socket_doorbell(config, qp->lid, qpn);
    if (qp->doorbell >= 0)
        return 0;
    int error = errno;
    close(qp->socket);
    qp->socket = -1;
    errno = error;
    return -1;
}

static uint32_t somewhere(uint32_t range)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mix = ((uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 32)) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mix >> 33) % range;
}

/* Else the kernel would look for a route to the multicast addresses. */
void soft_socket_send_groups_from(int fd, const struct soft_config *config, uint16_t lid)
{
    struct ip_mreqn own = {.imr_address.s_addr = soft_host(config->network, lid)};
    if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own, sizeof own))
        perror("udckpt: soft0: multicast datagrams will be lost");
}

int soft_socket_open(struct soft_qp *qp)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    uint32_t range = config->qpn_last - config->qpn_first + 1, start = somewhere(range);
    qp->socket = qp->doorbell = -1;
    for (uint32_t i = 0; i < range; i++) {
        uint32_t qpn = config->qpn_first + (start + i) % range;
        if (!try_qpn(qp, qpn)) {
            qp->base.qp_num = qpn;
            soft_socket_enlarge(qp->socket);
            soft_socket_send_groups_from(qp->socket, config, qp->lid);
            return soft_socket_refuse(qp);
        }
        if (errno != EADDRINUSE && errno != EACCES) {
            int error = errno;
            fprintf(stderr, "udckpt: soft0: no socket for LID %u: ", config->lid);
            errno = error;
            perror(NULL);
            return error;
        }
    }
    fprintf(stderr,
            "udckpt: soft0: all QPNs from %u to %u of LID %u are in use (max_qp): use more hosts, or outside a job "
            "widen UDCKPT_SOFT_QPNS\n",
            config->qpn_first, config->qpn_last, config->lid);
    return ENOMEM;
}

void soft_socket_close(struct soft_qp *qp)
{
    close(qp->socket);
    if (qp->number_socket >= 0)
        close(qp->number_socket);
    if (qp->doorbell >= 0)
        close(qp->doorbell);
}
