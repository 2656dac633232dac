/* The checkpoint half of the device's table, called directly: this program is linked with the soft
 * fabric's sources instead of being preloaded with them. */
#include "fabric.h"
#include "device/verbs_device.h"
#include <fcntl.h>
#undef ibv_reg_mr

static const struct verbs_device *device = &soft_device;

struct incarnation {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct ibv_qp *qp;
};

static char memory[8192];

static struct incarnation live(void)
{
    struct ibv_device **list = device->get_device_list(NULL);
    struct incarnation l = {.context = device->open_device(list[0])};
    device->free_device_list(list);
    CHECK(l.context);
    l.pd = device->alloc_pd(l.context);
    l.channel = device->create_comp_channel(l.context);
    l.cq = device->create_cq(l.context, 16, NULL, l.channel, 0);
    l.mr = device->reg_mr(l.pd, memory, sizeof memory, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp_init_attr init = {.send_cq = l.cq, .recv_cq = l.cq, .qp_type = IBV_QPT_UD, .cap = {8, 8, 1, 1, 0}};
    l.qp = device->create_qp(l.pd, &init);
    CHECK(l.qp);
    const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    EQUAL(0, device->modify_qp(l.qp, &attr, mask));
    attr.qp_state = IBV_QPS_RTR;
    EQUAL(0, device->modify_qp(l.qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    EQUAL(0, device->modify_qp(l.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
    return l;
}

static void talk_to_itself(struct incarnation *l, uint16_t lid)
{
    struct ibv_ah_attr to = {.dlid = lid, .port_num = 1};
    struct ibv_ah *ah = device->create_ah(l->pd, &to);
    struct ibv_sge in = {(uintptr_t)memory, 256, l->mr->lkey}, out = {(uintptr_t)memory + 4096, 8, l->mr->lkey};
    struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1}, *bad_recv;
    struct ibv_send_wr send = {.sg_list = &out,
                               .num_sge = 1,
                               .opcode = IBV_WR_SEND,
                               .wr.ud = {.ah = ah, .remote_qpn = l->qp->qp_num, .remote_qkey = QKEY}},
                       *bad;
    struct ibv_wc wc;
    EQUAL(0, device->post_recv(l->qp, &recv, &bad_recv));
    EQUAL(0, device->post_send(l->qp, &send, &bad));
    EQUAL(1, device->poll_cq(l->cq, 1, &wc));
    EQUAL(lid, wc.slid);
}

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* What a restart does: the descriptors are gone, the memory is as it was; other addresses. */
static void new_incarnation(void)
{
    struct device_config first = {.lid = 100, .qpn_first = 30000, .qpn_last = 30100};
    struct device_config second = {.lid = 200, .qpn_first = 31000, .qpn_last = 31100};
    EQUAL(0, device->configure(&first));
    struct incarnation old = live();
    talk_to_itself(&old, 100);
    CHECK(old.qp->qp_num >= 30000 && old.qp->qp_num <= 30100);
    uint32_t old_key = old.mr->lkey;

    int fds[16], count = device->owned_fds(old.context, fds, 16);
    EQUAL(5, count); /* async, channel and its eventfd, two sockets */
    EQUAL(5, device->owned_fds(old.context, NULL, 0));
    for (int i = 0; i < count; i++) {
        CHECK(is_open(fds[i]));
        close(fds[i]);
    }
    int unrelated = open("/dev/null", O_RDONLY); /* takes the number of one of them */
    CHECK(unrelated == fds[0] || unrelated >= 0);
    device->forget(old.context);
    CHECK(is_open(unrelated));

    EQUAL(0, device->configure(&second));
    struct incarnation now = live();
    CHECK(now.qp->qp_num >= 31000 && now.qp->qp_num <= 31100);
    CHECK(now.mr->lkey != old_key);
    struct ibv_port_attr port;
    EQUAL(0, device->query_port(now.context, 1, &port, sizeof port));
    EQUAL(200, port.lid);
    talk_to_itself(&now, 200);
    EQUAL(0, device->close_device(now.context)); /* with all that is open on it */
}

static void bad_configuration(void)
{
    struct device_config zero = {.lid = 0}, multicast = {.lid = 0xc000},
                         backwards = {.lid = 1, .qpn_first = 9, .qpn_last = 8},
                         beyond = {.lid = 1, .qpn_first = 5000, .qpn_last = 0x10000};
    EQUAL(EINVAL, device->configure(&zero));
    EQUAL(EINVAL, device->configure(&multicast));
    EQUAL(EINVAL, device->configure(&backwards));
    EQUAL(EINVAL, device->configure(&beyond));
}

int main(int argc, char **argv)
{
    return run_cases(
        argc, argv,
        (struct fabric_case[]){{"new-incarnation", new_incarnation}, {"bad-configuration", bad_configuration}, {0}});
}
