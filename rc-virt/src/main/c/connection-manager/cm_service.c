/* The process's service queue pair: UD, on the first device, with a thread that receives and keeps the timers. It is
 * opened by the first call that needs it and stays until the process ends. */
#include "cm.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    RECEIVES = 512, /* more than the other side sends at once */
    SENDS = 256,
    GRH_BYTES = 40,
    SLOT_BYTES = 512
};
enum { HANDLES_MAX = 65536 }; /* more peers than a job has: only forged messages name as many */
_Static_assert(sizeof(struct cm_message) + GRH_BYTES <= SLOT_BYTES, "a message fits a slot");

pthread_mutex_t cm_mutex = PTHREAD_MUTEX_INITIALIZER;

struct handle {
    struct handle *next;
    struct cm_endpoint endpoint;
    struct ibv_ah *ah;
};

static struct {
    pthread_mutex_t opening;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq,
        *sent; /* of messages that came, and of those that were sent: the one must not wait for the other */
    struct ibv_qp *qp;
    struct ibv_mr *region;
    struct ibv_port_attr port;
    int responder_resources, initiator_depth;
    int wake; /* eventfd: the timers have changed */
    int started;
    struct cm_endpoint endpoint;
    struct handle *handles; /* one for each process that was ever talked to */
    unsigned handle_count;
    unsigned sends_begun, sends_done;
} service = {.opening = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

static _Alignas(4096) uint8_t slots[(RECEIVES + SENDS) * SLOT_BYTES];

struct ibv_context *cm_device(void)
{
    pthread_mutex_lock(&service.opening);
    if (!service.context) {
        int count;
        struct ibv_device **list = ibv_get_device_list(&count);
        struct ibv_context *context = list && count > 0 ? ibv_open_device(list[0]) : NULL;
        int error = list && count == 0 ? ENODEV : errno;
        if (list)
            ibv_free_device_list(list);
        struct ibv_device_attr device;
        if (context && !(error = ibv_query_device(context, &device)) &&
            !(error = ibv_query_port(context, 1, &service.port))) {
            service.responder_resources = device.max_qp_rd_atom < 255 ? device.max_qp_rd_atom : 255;
            service.initiator_depth = device.max_qp_init_rd_atom < 255 ? device.max_qp_init_rd_atom : 255;
            service.context = context;
        }
        errno = error;
    }
    pthread_mutex_unlock(&service.opening);
    return service.context;
}

struct ibv_context *cm_device_if_open(void)
{
    return service.context;
}

uint8_t cm_port(void)
{
    return 1;
}

int cm_max_responder_resources(void)
{
    return service.responder_resources;
}

int cm_max_initiator_depth(void)
{
    return service.initiator_depth;
}

int cm_active_mtu(void)
{
    return service.port.active_mtu;
}

int cm_link_layer(void)
{
    return service.port.link_layer;
}

struct ibv_pd *cm_default_pd(void)
{
    return cm_service_start() ? NULL : service.pd;
}

const struct cm_endpoint *cm_service_endpoint(void)
{
    return &service.endpoint;
}

void cm_port_address(struct cm_endpoint *endpoint)
{
    endpoint->lid = service.endpoint.lid;
    memcpy(endpoint->gid, service.endpoint.gid, sizeof endpoint->gid);
}

/* RoCE has no LIDs: InfiniBand annex A16 has every packet carry a GRH. */
int cm_address(const struct cm_endpoint *endpoint, struct ibv_ah_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->dlid = endpoint->lid;
    attr->port_num = cm_port();
    if (cm_link_layer() == IBV_LINK_LAYER_ETHERNET) {
        attr->is_global = 1;
        memcpy(attr->grh.dgid.raw, endpoint->gid, sizeof endpoint->gid);
        attr->grh.hop_limit = 64;
    }
    return 0;
}

static int post_receive(unsigned slot)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)slots + slot * SLOT_BYTES, .length = SLOT_BYTES, .lkey = service.region->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(service.qp, &wr, &bad);
}

static int make_queue_pair(void)
{
    struct ibv_qp_init_attr wanted = {
        .send_cq = service.sent,
        .recv_cq = service.cq,
        .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = cm_port(), .qkey = CM_QKEY};
    union ibv_gid gid;
    service.qp = ibv_create_qp(service.pd, &wanted);
    if (!service.qp)
        return errno;
    int error = ibv_modify_qp(service.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr.qp_state = IBV_QPS_RTR;
    if (!error)
        error = ibv_modify_qp(service.qp, &attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    if (!error)
        error = ibv_modify_qp(service.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    for (unsigned slot = 0; slot < RECEIVES && !error; slot++)
        error = post_receive(slot);
    if (!error && ibv_query_gid(service.context, cm_port(), 0, &gid))
        error = errno;
    if (error)
        return error;
    service.endpoint.qpn = service.qp->qp_num;
    service.endpoint.lid = service.port.lid;
    memcpy(service.endpoint.gid, gid.raw, sizeof gid);
    return 0;
}

/* What a failed make_objects() has made, so that the next call begins anew. */
static void destroy_objects(void)
{
    if (service.qp)
        ibv_destroy_qp(service.qp);
    if (service.region)
        ibv_dereg_mr(service.region);
    if (service.cq)
        ibv_destroy_cq(service.cq);
    if (service.sent)
        ibv_destroy_cq(service.sent);
    if (service.channel)
        ibv_destroy_comp_channel(service.channel);
    if (service.pd)
        ibv_dealloc_pd(service.pd);
    if (service.wake >= 0)
        close(service.wake);
    service.qp = NULL;
    service.region = NULL;
    service.cq = service.sent = NULL;
    service.channel = NULL;
    service.pd = NULL;
    service.wake = -1;
}

static int make_objects(void)
{
    if (!(service.pd = ibv_alloc_pd(service.context)) ||
        !(service.channel = ibv_create_comp_channel(service.context)) ||
        fcntl(service.channel->fd, F_SETFL, fcntl(service.channel->fd, F_GETFL) | O_NONBLOCK) ||
        !(service.cq = ibv_create_cq(service.context, RECEIVES, NULL, service.channel, 0)) ||
        !(service.sent = ibv_create_cq(service.context, SENDS, NULL, NULL, 0)) ||
        !(service.region = ibv_reg_mr(service.pd, slots, sizeof slots, IBV_ACCESS_LOCAL_WRITE)) ||
        (service.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
        return errno;
    return ibv_req_notify_cq(service.cq, 0) ? EIO : make_queue_pair();
}

static struct ibv_ah *handle_of(const struct cm_endpoint *endpoint)
{
    struct ibv_ah_attr attr;
    struct handle *known;
    for (known = service.handles; known; known = known->next)
        if (!memcmp(&known->endpoint, endpoint, sizeof *endpoint))
            return known->ah;
    if (service.handle_count == HANDLES_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    known = calloc(1, sizeof *known);
    cm_address(endpoint, &attr);
    if (!known || !(known->ah = ibv_create_ah(service.pd, &attr))) {
        free(known);
        return NULL;
    }
    known->endpoint = *endpoint;
    known->next = service.handles;
    service.handles = known;
    service.handle_count++;
    return known->ah;
}

int cm_may_send(void)
{
    return service.sends_begun - __atomic_load_n(&service.sends_done, __ATOMIC_ACQUIRE) < SENDS;
}

void cm_send(const struct cm_message *message, const struct cm_endpoint *to)
{
    if (!cm_may_send())
        return; /* lost, as any datagram may be: it is sent again */
    struct ibv_ah *ah = handle_of(to);
    if (!ah) {
        cm_say("rdma_cm: ibv_create_ah: %s", strerror(errno));
        return;
    }
    unsigned slot = RECEIVES + service.sends_begun++ % SENDS;
    uint8_t *place = slots + slot * SLOT_BYTES;
    memcpy(place, message, sizeof *message);
    struct ibv_sge sge = {.addr = (uintptr_t)place, .length = sizeof *message, .lkey = service.region->lkey};
    struct ibv_send_wr wr = {.wr_id = slot,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.ud = {.ah = ah, .remote_qpn = to->qpn, .remote_qkey = CM_QKEY}},
                       *bad;
    int error = ibv_post_send(service.qp, &wr, &bad);
    if (error) {
        service.sends_begun--;
        cm_say("rdma_cm: ibv_post_send: %s", strerror(error));
    }
}

static void received(const struct ibv_wc *done)
{
    struct cm_message message;
    if (done->byte_len != sizeof message + GRH_BYTES)
        return; /* not ours: the QKEY is no secret */
    memcpy(&message, slots + done->wr_id * SLOT_BYTES + GRH_BYTES, sizeof message);
    if (message.magic == CM_MAGIC && message.private_length <= CM_PRIVATE_MAX)
        cm_received(&message);
}

static void harvest_sends(void)
{
    struct ibv_wc done[16];
    int count;
    while ((count = ibv_poll_cq(service.sent, 16, done)) > 0)
        __atomic_add_fetch(&service.sends_done, (unsigned)count, __ATOMIC_RELEASE);
    if (count < 0)
        cm_say("rdma_cm: ibv_poll_cq on the service queue failed; connections will time out");
}

static void harvest(void)
{
    struct ibv_wc done[16];
    int count;
    for (harvest_sends(); (count = ibv_poll_cq(service.cq, 16, done)) > 0; harvest_sends())
        for (int i = 0; i < count; i++) {
            /* the queue pair has failed: what is posted again would fail at once, without end */
            if (done[i].status != IBV_WC_SUCCESS) {
                cm_say("rdma_cm: a receive on the service queue pair failed with status %d; connections may time out",
                       (int)done[i].status);
                continue;
            }
            pthread_mutex_lock(&cm_mutex);
            received(&done[i]);
            pthread_mutex_unlock(&cm_mutex);
            if (post_receive((unsigned)done[i].wr_id))
                cm_say("rdma_cm: ibv_post_recv on the service queue pair failed; connections may time out");
        }
    if (count < 0)
        cm_say("rdma_cm: ibv_poll_cq on the service queue failed; connections will time out");
}

static void *serve(void *unused)
{
    struct pollfd waits[2] = {{.fd = service.channel->fd, .events = POLLIN}, {.fd = service.wake, .events = POLLIN}};
    pthread_setname_np(pthread_self(), "udckpt-cm");
    for (;;) {
        struct ibv_cq *cq;
        void *context;
        uint64_t count;
        pthread_mutex_lock(&cm_mutex);
        long wait = cm_timers();
        pthread_mutex_unlock(&cm_mutex);
        poll(waits, 2, (int)wait);
        if (waits[1].revents && read(service.wake, &count, sizeof count) < 0 && errno != EAGAIN)
            cm_say("rdma_cm: eventfd: %s", strerror(errno));
        while (!ibv_get_cq_event(service.channel, &cq, &context))
            ibv_ack_cq_events(cq, 1);
        if (ibv_req_notify_cq(service.cq, 0))
            cm_say("rdma_cm: ibv_req_notify_cq on the service queue failed; connections may time out");
        harvest(); /* after the request, so that what came before it is not missed */
    }
    return unused;
}

void cm_wake(void)
{
    uint64_t one = 1;
    if (write(service.wake, &one, sizeof one) < 0 && errno != EAGAIN) /* EAGAIN: it will wake anyway */
        cm_say("rdma_cm: eventfd: %s", strerror(errno));
}

static int start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* the program's signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

int cm_service_start(void)
{
    if (__atomic_load_n(&service.started, __ATOMIC_ACQUIRE))
        return 0;
    if (!cm_device())
        return -1;
    pthread_mutex_lock(&service.opening);
    int error = 0;
    if (!service.started) {
        error = service.qp ? 0 : make_objects();
        if (error)
            destroy_objects();
        else
            error = start_thread();
        if (!error) {
            cm_owned();
            __atomic_store_n(&service.started, 1, __ATOMIC_RELEASE);
        } else
            cm_say("rdma_cm: the service queue pair: %s", strerror(error));
    }
    pthread_mutex_unlock(&service.opening);
    return error ? cm_fail(error) : 0;
}
