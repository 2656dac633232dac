/* closed_first FILE, as the only rank of a job: closes a device on which everything is still open, and says "ready".
 * When the file is there, it destroys what was open, as languages that collect garbage do it, in an odd order, and
 * opens the device again. */
#include "own_datagrams.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *device = list && *list ? ibv_open_device(*list) : NULL;
    CHECK(device);
    struct ibv_pd *pd = ibv_alloc_pd(device);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(device);
    CHECK(pd && channel);
    struct ibv_cq *sent = ibv_create_cq(device, ROOM, NULL, channel, 0),
                  *received = ibv_create_cq(device, ROOM, NULL, channel, 0);
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &shared);
    struct ibv_mw *window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    struct ibv_xrcd_init_attr any = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *domain = ibv_open_xrcd(device, &any);
    CHECK(sent && received && srq && window && domain);
    CHECK((region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, pd, sent, received);
    for (int i = 0; i < RECEIVES; i++)
        post_receive(i);
    CHECK(!ibv_req_notify_cq(received, 0));
    post_send(0);
    CHECK(!ibv_close_device(device));
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK))
        usleep(10000);
    CHECK(!ibv_destroy_ah(self) && !ibv_dereg_mr(region) && !ibv_dealloc_mw(window));
    CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) && !ibv_destroy_cq(sent) && !ibv_destroy_cq(received));
    CHECK(!ibv_destroy_comp_channel(channel) && !ibv_dealloc_pd(pd) && !ibv_close_xrcd(domain));
    CHECK((device = ibv_open_device(*list)) && (pd = ibv_alloc_pd(device)));
    CHECK((sent = ibv_create_cq(device, ROOM, NULL, NULL, 0)) &&
          (received = ibv_create_cq(device, ROOM, NULL, NULL, 0)));
    CHECK((region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, pd, sent, received);
    post_receive(0);
    post_send(0);
    struct ibv_wc done;
    int got;
    while (!(got = ibv_poll_cq(received, 1, &done)))
        usleep(1000);
    CHECK(got == 1 && done.status == IBV_WC_SUCCESS);
    puts("PASS");
    return 0;
}
