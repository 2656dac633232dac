/* cm_burst PORT: rank 1 asks for many connections at once and then ends all at once, without waiting for an answer, as
 * cmtime does; rank 0 must hear of each. There are more of them than messages on their way can be, and more than that
 * times the repeats of one. */
#include "cm_sides.h"
#include <poll.h>

enum { CONNECTIONS = 4000, TOLD_WITHIN_MS = 60000 };

/* The next event's kind; what it asks for is done. */
static enum rdma_cm_event_type next(struct rdma_event_channel *channel)
{
    struct pollfd readable = {.fd = channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    if (poll(&readable, 1, TOLD_WITHIN_MS) != 1 || rdma_get_cm_event(channel, &event))
        fail("no event");
    enum rdma_cm_event_type kind = event->event;
    struct rdma_cm_id *id = event->id;
    rdma_ack_cm_event(event);
    if ((kind == RDMA_CM_EVENT_CONNECT_REQUEST && rdma_accept(id, &parameters)) ||
        (kind == RDMA_CM_EVENT_ADDR_RESOLVED && rdma_resolve_route(id, 2000)) ||
        (kind == RDMA_CM_EVENT_CONNECT_RESPONSE && rdma_establish(id)))
        fail(rdma_event_str(kind));
    return kind;
}

static void await(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, int count)
{
    while (count > 0) {
        enum rdma_cm_event_type kind = next(channel);
        if (kind == wanted)
            count--;
        else if (kind != RDMA_CM_EVENT_CONNECT_REQUEST && kind != RDMA_CM_EVENT_ADDR_RESOLVED &&
                 kind != RDMA_CM_EVENT_ESTABLISHED)
            fail(rdma_event_str(kind));
    }
}

static void serve(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    be_asked(channel, address, 0);
    await(channel, RDMA_CM_EVENT_DISCONNECTED, CONNECTIONS);
    puts("PASS server");
}

static void ask(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    static struct rdma_cm_id *ids[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++)
        if (rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP) ||
            rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)address, 2000))
            fail("rdma_resolve_addr");
    await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++)
        if (rdma_connect(ids[i], &parameters))
            fail("rdma_connect");
    await(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++)
        if (rdma_disconnect(ids[i]))
            fail("rdma_disconnect");
    await(channel, RDMA_CM_EVENT_DISCONNECTED, CONNECTIONS);
    puts("PASS client");
}

int main(int count, char **arguments)
{
    return be_one_side(arguments[count - 1], serve, ask);
}
