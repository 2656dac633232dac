/* cm_busy PORT: both programs are busy for longer than a message is repeated. Rank 0 has a backlog of one request, and
 * does not look at it for so long, while others wait for a place in it; rank 1 has an answer and does not say that it
 * is ready. As with the kernel's connection manager, which answers for a program that thinks, nobody is given up. */
#include "cm_sides.h"

enum { CONNECTIONS = 3, BUSY_SECONDS = 30 };

static struct rdma_cm_id *await(struct rdma_event_channel *channel, enum rdma_cm_event_type *kind)
{
    struct rdma_cm_event *event;
    if (rdma_get_cm_event(channel, &event))
        fail("no event");
    struct rdma_cm_id *id = event->id;
    *kind = event->event;
    rdma_ack_cm_event(event);
    return id;
}

static void serve(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    be_asked(channel, address, 1);
    for (int asked = 0, established = 0; established < CONNECTIONS;) {
        enum rdma_cm_event_type kind;
        struct rdma_cm_id *id = await(channel, &kind);
        if (kind == RDMA_CM_EVENT_ESTABLISHED) {
            established++;
        } else if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
            if (++asked == 2)
                sleep(BUSY_SECONDS);
            if (rdma_accept(id, &parameters))
                fail("rdma_accept");
        } else {
            fail(rdma_event_str(kind));
        }
    }
    puts("PASS server");
}

static void ask(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    struct rdma_cm_id *ids[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++)
        if (rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP) ||
            rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)address, 2000))
            fail("rdma_resolve_addr");
    for (int established = 0; established < CONNECTIONS;) {
        enum rdma_cm_event_type kind;
        struct rdma_cm_id *id = await(channel, &kind);
        if ((kind == RDMA_CM_EVENT_ADDR_RESOLVED && rdma_resolve_route(id, 2000)) ||
            (kind == RDMA_CM_EVENT_ROUTE_RESOLVED && rdma_connect(id, &parameters)))
            fail(rdma_event_str(kind));
        if (kind == RDMA_CM_EVENT_CONNECT_RESPONSE) {
            if (!established++)
                sleep(BUSY_SECONDS);
            if (rdma_establish(id))
                fail("rdma_establish");
        } else if (kind != RDMA_CM_EVENT_ADDR_RESOLVED && kind != RDMA_CM_EVENT_ROUTE_RESOLVED) {
            fail(rdma_event_str(kind));
        }
    }
    puts("PASS client");
    fflush(stdout);
    sleep(3); /* until the other side knows: what is told of an exit would be told instead */
}

int main(int count, char **arguments)
{
    return be_one_side(arguments[count - 1], serve, ask);
}
