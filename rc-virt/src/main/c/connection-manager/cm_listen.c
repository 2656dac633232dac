/* Listeners. The agent knows all of them, for all processes of the job. An address here is a port of a port space and
 * an IP address; IP addresses only tell listeners apart. */
#include "cm.h"
#include "agent-client/control.h"
#include "gate/gate.h"
#include "interposer/interposer.h"
#include "session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this process has told the agent, to be told again after a restart. Taken with the gate passed, so that no thread
 * holds it while the process is captured. */
struct reservation {
    struct reservation *next;
    struct cm_id *id;
    struct udckpt_msg_cm_bind message;
};
static struct reservation *reservations;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* In a restored process: tells the new agent who listens where. */
static int reserve_again(char *error, size_t size)
{
    for (struct reservation *known = reservations; known; known = known->next)
        if (request_cm_bind(&known->message) != REQUEST_OK) {
            snprintf(error, size, "the agent did not register the listening ports of this process (rdma_cm)");
            return -1;
        }
    return 0;
}

static void write_address(const struct sockaddr *address, uint16_t *port, uint8_t ip[16])
{
    memset(ip, 0, 16);
    if (address->sa_family == AF_INET6) {
        memcpy(ip, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    } else {
        ip[10] = ip[11] = 0xff; /* RFC 4291, 2.5.5.2: an IPv4 address among IPv6 ones */
        memcpy(ip + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
    }
    *port = ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static int no_agent(void)
{
    return cm_refuse("rdma_cm outside a job", "start the program with udckpt run");
}

static struct reservation *of(struct cm_id *id)
{
    struct reservation *known = reservations;
    while (known && known->id != id)
        known = known->next;
    return known;
}

static int reserve(struct cm_id *id, int listening)
{
    struct reservation *known = of(id);
    if (!known) {
        known = calloc(1, sizeof *known);
        if (!known)
            return ENOMEM;
        known->id = id;
        known->message.port_space = (uint32_t)id->id.ps;
        known->message.reuse = (uint8_t)(id->reuse_address != 0);
        known->message.family_only = (uint8_t)(id->family_only || id->id.route.addr.src_addr.sa_family == AF_INET);
        known->message.owner = id->connection;
        write_address(&id->id.route.addr.src_addr, &known->message.port, known->message.ip);
        known->next = reservations;
        reservations = known;
    }
    known->message.listening = (uint8_t)listening;
    known->message.qpn = cm_service_endpoint()->qpn;
    known->message.lid = cm_service_endpoint()->lid;
    memcpy(known->message.gid, cm_service_endpoint()->gid, sizeof known->message.gid);
    session_on_rebuilt(reserve_again);
    session_attach(top_device()); /* no device need be open yet */
    switch (request_cm_bind(&known->message)) {
    case REQUEST_OK:
        id->id.route.addr.src_sin.sin_port = htons(known->message.port);
        id->port_reserved = 1;
        return 0;
    case REQUEST_NO_AGENT:
        return ENODEV;
    default:
        return EADDRINUSE;
    }
}

static void drop(struct cm_id *id)
{
    struct reservation **link = &reservations;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    struct reservation *gone = *link;
    if (gone) {
        *link = gone->next;
        free(gone);
    }
}

int cm_reserve(struct cm_id *id, int listening)
{
    if (!gate_enter())
        return cm_fail(EOPNOTSUPP);
    pthread_mutex_lock(&mutex);
    int error = reserve(id, listening);
    if (error && !id->port_reserved)
        drop(id);
    pthread_mutex_unlock(&mutex);
    gate_leave();
    if (error == ENODEV)
        return no_agent();
    return error ? cm_fail(error) : 0;
}

void cm_release(struct cm_id *id)
{
    if (!id->port_reserved || !gate_enter())
        return;
    pthread_mutex_lock(&mutex);
    struct reservation *known = of(id);
    if (known) {
        request_cm_unbind(&known->message); /* without an agent there is nobody to tell */
        drop(id);
    }
    pthread_mutex_unlock(&mutex);
    gate_leave();
}

enum cm_found cm_lookup(struct cm_id *id, struct cm_endpoint *endpoint)
{
    struct udckpt_msg_cm_bind question = {.port_space = (uint32_t)id->id.ps};
    write_address(&id->id.route.addr.dst_addr, &question.port, question.ip);
    if (!gate_enter()) {
        errno = EOPNOTSUPP;
        return CM_NOT_ASKED;
    }
    session_attach(top_device());
    int answer = request_cm_find(&question);
    gate_leave();
    if (answer == REQUEST_NO_AGENT) {
        no_agent();
        return CM_NOT_ASKED;
    }
    *endpoint = (struct cm_endpoint){.qpn = question.qpn, .lid = question.lid};
    memcpy(endpoint->gid, question.gid, sizeof endpoint->gid);
    return answer == REQUEST_OK ? CM_FOUND : answer == REQUEST_UNKNOWN ? CM_NOBODY : CM_NOBODY_YET;
}
