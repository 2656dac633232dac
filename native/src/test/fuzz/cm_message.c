/* Messages of rdma_cm to a process that listens, has asked, has been asked, and is connected: as another process sends
 * them to its service queue pair, whose key is no secret. Each begins with a byte that says whose answer it is. */
/* links: libudckpt */
#include "fuzz_verbs.h"
#include "connection-manager/cm.h"

enum { IDS = 6 };

static struct rdma_event_channel *channel;
static struct cm_id *own[IDS];

static void prepare(void)
{
    setenv("UDCKPT_SOFT_NET", "127.99", 1);
    char lid[16];
    snprintf(lid, sizeof lid, "%d", 1 + getpid() % 40000);
    setenv("UDCKPT_SOFT_LID", lid, 1);
    NEED(!cm_service_start());
    NEED(channel = rdma_create_event_channel());
}

static struct cm_id *make(enum rdma_port_space space, enum cm_state state, uint64_t connection)
{
    struct cm_id *id = cm_make_id(channel, NULL, space, space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
    NEED(id);
    id->state = state;
    id->connection = connection;
    id->backlog = 2;
    id->id.verbs = cm_device_if_open();
    id->id.port_num = 1;
    id->id.route.addr.src_addr.sa_family = AF_INET;
    id->id.route.addr.src_sin.sin_port = htons(77);
    cm_link(id);
    return id;
}

/* All that there are, also those that requests have made. */
static void forget_all(void)
{
    for (struct cm_id *id; (id = cm_all());) {
        cm_settle(id);
        cm_forget_events(id);
        cm_unlink(id);
        free(id);
    }
}

static void see_events(void)
{
    struct rdma_cm_event *event;
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    while (!rdma_get_cm_event(channel, &event)) {
        /* What a program reads. */
        uint8_t seen = 0;
        const uint8_t *data =
            event->id->ps == RDMA_PS_UDP ? event->param.ud.private_data : event->param.conn.private_data;
        unsigned length =
            event->id->ps == RDMA_PS_UDP ? event->param.ud.private_data_len : event->param.conn.private_data_len;
        for (unsigned i = 0; data && i < length; i++)
            seen ^= data[i];
        __asm__ volatile("" : : "r"(seen));
        rdma_ack_cm_event(event);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    if (!channel)
        prepare();
    pthread_mutex_lock(&cm_mutex);
    enum rdma_port_space space = take_u8(&input) & 1 ? RDMA_PS_UDP : RDMA_PS_TCP;
    static const enum cm_state states[IDS] = {CM_LISTENING, CM_CONNECTING, CM_ACCEPTED,
                                              CM_RESPONDED, CM_CONNECTED,  CM_CLOSING};
    for (int i = 0; i < IDS; i++)
        own[i] = make(space, states[i], 100 + i);
    while (input.left) {
        struct cm_message message;
        uint8_t to = take_u8(&input);
        take(&input, &message, sizeof message);
        message.kind = take_u8(&input) % 12;
        message.peer_connection = to & 0x80 ? message.peer_connection : 100u + to % IDS;
        if (!(to & 0x40)) {
            message.port_space = space;
            message.destination.sin6_family = AF_INET;
            message.destination.sin6_port = htons(77);
        }
        message.private_length %= CM_PRIVATE_MAX + 1; /* cm_service.c takes no other */
        cm_received(&message);
        pthread_mutex_unlock(&cm_mutex);
        see_events();
        pthread_mutex_lock(&cm_mutex);
    }
    forget_all();
    pthread_mutex_unlock(&cm_mutex);
    return 0;
}
