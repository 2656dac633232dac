/* The ids of this process, and what all of its callers need: refusals and errors. */
#include "cm.h"
#include "agent-client/control.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { LEFT_MAX = 8, REPLACING_MS = 2000 }; /* as long as CmDirectory.REPLACING */

static struct cm_id *ids;

/* The last listeners that the program has given up. */
static struct left {
    struct rdma_addr address;
    long when_ms;
} left[LEFT_MAX];
static unsigned left_count;

void cm_say(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    control_log("%s", line);
}

int cm_fail(int error)
{
    errno = error;
    return -1;
}

int cm_refuse(const char *name, const char *advice)
{
    cm_say("%s is not supported: %s", name, advice);
    return cm_fail(EOPNOTSUPP);
}

/* Never 0, and never one that another process has: a number from the kernel's generator. */
uint64_t cm_new_connection(void)
{
    uint64_t number = 0;
    while (!number)
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            number = 0;
    return number;
}

struct cm_id *cm_make_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                         enum ibv_qp_type type)
{
    struct cm_id *id = calloc(1, sizeof *id);
    if (!id)
        return NULL;
    id->id.channel = channel;
    id->id.context = context;
    id->id.ps = ps;
    id->id.qp_type = type;
    id->connection = cm_new_connection();
    id->qkey = RDMA_UDP_QKEY;
    id->ack_timeout = -1;
    return id;
}

void cm_link(struct cm_id *id)
{
    id->next = ids;
    ids = id;
}

void cm_unlink(struct cm_id *id)
{
    if (id->state == CM_LISTENING)
        left[left_count++ % LEFT_MAX] = (struct left){.address = id->id.route.addr, .when_ms = cm_now_ms()};
    struct cm_id **link = &ids;
    while (*link && *link != id)
        link = &(*link)->next;
    if (*link)
        *link = id->next;
    for (struct cm_id *other = ids; other; other = other->next)
        if (other->listener == id)
            other->listener = NULL;
}

struct cm_id *cm_all(void)
{
    return ids;
}

struct cm_id *cm_find(uint64_t connection)
{
    struct cm_id *id = ids;
    while (id && id->connection != connection)
        id = id->next;
    return id;
}

struct cm_id *cm_find_peer(uint64_t connection, const struct cm_endpoint *service)
{
    struct cm_id *id = ids;
    while (id && !(id->peer.connection == connection && !memcmp(&id->peer.service, service, sizeof *service)))
        id = id->next;
    return id;
}

static int any_address(const struct rdma_addr *addr)
{
    static const struct in6_addr any6;
    return addr->src_addr.sa_family == AF_INET ? addr->src_sin.sin_addr.s_addr == 0
                                               : !memcmp(&addr->src_sin6.sin6_addr, &any6, sizeof any6);
}

static int same_address(const struct rdma_addr *addr, const struct sockaddr_in6 *wanted)
{
    if (addr->src_addr.sa_family != wanted->sin6_family)
        return 0;
    if (wanted->sin6_family == AF_INET)
        return addr->src_sin.sin_addr.s_addr == ((const struct sockaddr_in *)wanted)->sin_addr.s_addr;
    return !memcmp(&addr->src_sin6.sin6_addr, &wanted->sin6_addr, sizeof wanted->sin6_addr);
}

/* The port lies at the same place in sockaddr_in and sockaddr_in6. */
static int same_port(const struct rdma_addr *addr, const struct cm_message *request)
{
    return addr->src_sin.sin_port == request->destination.sin6_port;
}

struct cm_id *cm_find_listener(const struct cm_message *request)
{
    struct cm_id *any = NULL;
    for (struct cm_id *id = ids; id; id = id->next) {
        const struct rdma_addr *addr = &id->id.route.addr;
        if (id->state != CM_LISTENING || (uint32_t)id->id.ps != request->port_space || !same_port(addr, request) ||
            cm_is_datagram(id) != (request->kind == CM_SIDR_REQ))
            continue;
        if (same_address(addr, &request->destination))
            return id;
        if (any_address(addr) && (addr->src_addr.sa_family == request->destination.sin6_family ||
                                  (addr->src_addr.sa_family == AF_INET6 && !id->family_only)))
            any = id;
    }
    return any;
}

/* Ports of any port space count, as in CmDirectory.mayListenSoon. */
int cm_may_listen_soon(const struct cm_message *request)
{
    long since = cm_now_ms() - REPLACING_MS;
    for (unsigned i = 0; i < LEFT_MAX && i < left_count; i++) {
        const struct rdma_addr *addr = &left[i].address;
        if (left[i].when_ms > since && same_port(addr, request) &&
            (same_address(addr, &request->destination) || any_address(addr)))
            return 1;
    }
    return 0;
}
