/* Ports that go down, and a device that is taken away: udckpt_soft_event() of the preloaded library. */
#include "fabric_at.h"
#include <dlfcn.h>
#include <poll.h>

static int happens(const char *device, enum ibv_event_type type, unsigned port)
{
    int (*event)(const char *, enum ibv_event_type, unsigned) = dlsym(RTLD_DEFAULT, "udckpt_soft_event");
    CHECK(event);
    return event(device, type, port);
}

static int told(struct ibv_context *context)
{
    struct pollfd fd = {.fd = context->async_fd, .events = POLLIN};
    return poll(&fd, 1, 0);
}

static void expect(struct ibv_context *context, enum ibv_event_type type, int port)
{
    struct ibv_async_event event;
    EQUAL(1, told(context));
    EQUAL(0, ibv_get_async_event(context, &event));
    EQUAL(type, event.event_type);
    if (port)
        EQUAL(port, event.element.port_num);
    ibv_ack_async_event(&event);
}

static void loses(struct at *from, struct at *to)
{
    receive_at(to);
    send_from(from, port_of(to->context, to->port).lid, to->qp->qp_num, NULL, 1);
    CHECK(stays_empty(to->cq));
}

static void aPortGoesDownAndComesBack(void)
{
    struct ibv_context *context = open_number(0), *other = open_number(1);
    struct at *down = make_at(context, 2, IBV_QPT_UD), *up = make_at(context, 1, IBV_QPT_UD),
              *far = make_at(other, 2, IBV_QPT_UD);
    deliver(up, down, 0, 1);
    EQUAL(1, happens("soft0", IBV_EVENT_PORT_ERR, 2));
    expect(context, IBV_EVENT_PORT_ERR, 2);
    EQUAL(0, told(context));
    EQUAL(0, told(other));
    EQUAL(IBV_PORT_DOWN, port_of(context, 2).state);
    EQUAL(IBV_PORT_ACTIVE, port_of(context, 1).state);
    EQUAL(IBV_PORT_ACTIVE, port_of(other, 2).state);
    loses(up, down);
    loses(down, up);
    struct at *late = make_at(context, 2, IBV_QPT_UD);
    loses(far, late);
    deliver(far, far, 1, 2);
    EQUAL(1, happens("soft0", IBV_EVENT_PORT_ACTIVE, 2));
    expect(context, IBV_EVENT_PORT_ACTIVE, 2);
    EQUAL(IBV_PORT_ACTIVE, port_of(context, 2).state);
    deliver(far, down, 1, 3);
    deliver(down, far, 1, 4);
    deliver(far, late, 0, 5);
}

/* What was sent meanwhile is sent again. */
static void aConnectionOutlivesIt(void)
{
    struct at *one = make_at(open_number(0), 2, IBV_QPT_RC), *two = make_at(open_number(1), 1, IBV_QPT_RC);
    struct ibv_sge sge = {(uintptr_t)one->memory + 2048, 100, one->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 2,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    struct ibv_wc wc;
    connect_to(one, two);
    connect_to(two, one);
    receive_at(two);
    EQUAL(1, happens("soft0", IBV_EVENT_PORT_ERR, 2));
    EQUAL(0, ibv_post_send(one->qp, &wr, &bad));
    CHECK(stays_empty(two->cq));
    EQUAL(1, happens("soft0", IBV_EVENT_PORT_ACTIVE, 2));
    EQUAL(1, poll_for(two->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(1, poll_for(one->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

static void everyContextIsToldOfEverything(void)
{
    static const enum ibv_event_type types[] = {IBV_EVENT_LID_CHANGE, IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE,
                                                IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE};
    struct ibv_context *one = open_number(1), *two = open_number(1);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        EQUAL(2, happens("soft1", types[i], 1 + i % 2));
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        expect(one, types[i], 1 + (int)i % 2);
        expect(two, types[i], 1 + (int)i % 2);
    }
    EQUAL(0, told(one));
    EQUAL(0, happens("soft0", IBV_EVENT_SM_CHANGE, 1)); /* nobody has it open */
    EQUAL(-EINVAL, happens("soft1", IBV_EVENT_PORT_ERR, 3));
    EQUAL(-EINVAL, happens("soft1", IBV_EVENT_CQ_ERR, 1));
    EQUAL(0, ibv_close_device(one));
    EQUAL(1, happens("soft1", IBV_EVENT_SM_CHANGE, 2));
    expect(two, IBV_EVENT_SM_CHANGE, 2);
}

static void aDeviceIsTakenAway(void)
{
    struct ibv_context *context = open_number(0);
    struct at *at = make_at(context, 1, IBV_QPT_UD), *other = make_at(open_number(1), 1, IBV_QPT_UD);
    struct ibv_qp_init_attr init = {
        .send_cq = at->cq, .recv_cq = at->cq, .qp_type = IBV_QPT_UD, .cap = {16, 16, 1, 1, 0}};
    struct ibv_wc wc;
    receive_at(at);
    EQUAL(1, happens("soft0", IBV_EVENT_DEVICE_FATAL, 0));
    expect(context, IBV_EVENT_DEVICE_FATAL, 0);
    EQUAL(1, poll_for(at->cq, 1, &wc));
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc.status);
    EQUAL(IBV_QPS_ERR, state_of(at->qp));
    CHECK(!ibv_create_qp(at->pd, &init));
    EQUAL(EIO, errno);
    EQUAL(EIO, init_at(at->qp, 1));
    EQUAL(0, ibv_destroy_qp(at->qp));
    EQUAL(0, ibv_destroy_cq(at->cq));
    EQUAL(0, ibv_dereg_mr(at->mr));
    EQUAL(0, ibv_dealloc_pd(at->pd));
    EQUAL(0, ibv_destroy_comp_channel(at->channel));
    EQUAL(0, ibv_close_device(context));
    deliver(other, other, 0, 3);
}

int main(int argc, char **argv)
{
    static const struct fabric_case cases[] = {
        {"aPortGoesDownAndComesBack", aPortGoesDownAndComesBack},
        {"aConnectionOutlivesIt", aConnectionOutlivesIt},
        {"everyContextIsToldOfEverything", everyContextIsToldOfEverything},
        {"aDeviceIsTakenAway", aDeviceIsTakenAway},
        {NULL, NULL},
    };
    return run_cases(argc, argv, cases);
}
