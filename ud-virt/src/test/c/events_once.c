/* events_once FILE, as the only rank of a job: sends itself datagrams and sleeps for their completions. It takes the
 * event of the first, asks for the next event, and says "ready" before it polls, as perftest (-e) does when a
 * checkpoint comes between the two. When the file is there, it polls: there is a completion. It was there when the next
 * event was asked for, so it has none: perftest takes each event for a message. The next datagram has one. */
#include "own_datagrams.h"
#include <poll.h>
#include <unistd.h>

enum { QUIET_MS = 300, SOON_MS = 20000 };

static struct ibv_comp_channel *channel;
static struct ibv_cq *received;

static int is_readable(int milliseconds)
{
    return poll(&(struct pollfd){.fd = channel->fd, .events = POLLIN}, 1, milliseconds);
}

static void take_event_and_ask_for_the_next(void)
{
    struct ibv_cq *cq;
    void *context;
    CHECK(is_readable(SOON_MS) == 1);
    CHECK(!ibv_get_cq_event(channel, &cq, &context) && cq == received);
    ibv_ack_cq_events(cq, 1);
    CHECK(!ibv_req_notify_cq(received, 0));
}

static int poll_one(void)
{
    struct ibv_wc done;
    int got = ibv_poll_cq(received, 1, &done);
    CHECK(got >= 0 && (!got || done.status == IBV_WC_SUCCESS));
    return got;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *device = list && *list ? ibv_open_device(*list) : NULL;
    CHECK(device);
    struct ibv_pd *pd = ibv_alloc_pd(device);
    CHECK(pd && (channel = ibv_create_comp_channel(device)));
    struct ibv_cq *sent = ibv_create_cq(device, ROOM, NULL, NULL, 0);
    CHECK(sent);
    CHECK((received = ibv_create_cq(device, ROOM, NULL, channel, 0)));
    CHECK((region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, pd, sent, received);
    for (int i = 0; i < RECEIVES; i++)
        post_receive(i);
    CHECK(!ibv_req_notify_cq(received, 0));
    post_send(0);
    take_event_and_ask_for_the_next();
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK))
        usleep(10000);
    CHECK(poll_one() == 1);
    CHECK(is_readable(QUIET_MS) == 0);
    post_send(0);
    take_event_and_ask_for_the_next();
    CHECK(poll_one() == 1 && poll_one() == 0);
    CHECK(is_readable(QUIET_MS) == 0);
    puts("PASS");
    return 0;
}
