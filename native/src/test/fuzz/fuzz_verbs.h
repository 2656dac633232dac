/* A process with a soft device and no agent, and a socket in the place of a peer, for targets that read packets. */
#pragma once
#include "fuzz.h"
#include "soft-fabric/soft_config.h"
#include "soft-fabric/soft_socket.h"
#include <infiniband/verbs.h>
#include <sys/socket.h>
#include <unistd.h>

/* Says nothing: some inputs make the library say a lot. */
void control_log(const char *format, ...)
{
}

/* Another address for each process: several targets may run at a time, and tests beside them. */
static inline struct ibv_context *open_device(void)
{
    char lid[16];
    snprintf(lid, sizeof lid, "%d", 1 + getpid() % 40000);
    setenv("UDCKPT_SOFT_NET", "127.99", 1);
    setenv("UDCKPT_SOFT_LID", lid, 1);
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    NEED(list && count == 1);
    struct ibv_context *context = ibv_open_device(list[0]);
    NEED(context);
    ibv_free_device_list(list);
    return context;
}

static inline uint16_t lid_of(struct ibv_context *context)
{
    struct ibv_port_attr port;
    NEED(!ibv_query_port(context, 1, &port));
    return port.lid;
}

/* The socket that a queue pair of this number at this device would have. */
static inline int peer_socket(uint16_t lid, uint32_t *qpn)
{
    const struct soft_config *config = soft_config();
    NEED(config);
    for (*qpn = config->qpn_first; *qpn <= config->qpn_last; ++*qpn) {
        int fd = soft_socket_bound(config->network, lid, *qpn);
        if (fd >= 0)
            return fd;
    }
    abort();
}

static inline void send_packet(int fd, uint16_t lid, uint32_t qpn, const void *packet, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)qpn),
                             .sin_addr.s_addr = soft_host(soft_config()->network, lid)};
    NEED(sendto(fd, packet, size, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)size);
}

static inline void drop_answers(int fd)
{
    char byte;
    while (recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
        ;
}
