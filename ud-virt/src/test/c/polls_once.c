/* polls_once FILE, as the only rank of a job: sends itself a datagram, polls for nothing, and says "ready". When the
 * file is there, it sends another one and polls once: it gets all completions, also when a checkpoint has taken the
 * first ones from the device. A program that gets fewer than it has room for takes the queue for empty, and sleeps. */
#include "own_datagrams.h"
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct ibv_wc done[ROOM];
    uint64_t seen = 0;
    CHECK(argc == 2);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *device = list && *list ? ibv_open_device(*list) : NULL;
    CHECK(device);
    struct ibv_pd *pd = ibv_alloc_pd(device);
    struct ibv_cq *cq = ibv_create_cq(device, ROOM, NULL, NULL, 0);
    CHECK(pd && cq && (region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, pd, cq, cq);
    for (int i = 0; i < RECEIVES; i++)
        post_receive(i);
    post_send(1);
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK))
        usleep(10000);
    post_send(2);
    int got = ibv_poll_cq(cq, ROOM, done);
    for (int i = 0; i < got; i++) {
        CHECK(done[i].status == IBV_WC_SUCCESS);
        seen |= done[i].wr_id >= 100 ? 0x100ull << (done[i].wr_id - 100) : 1ull << done[i].wr_id;
    }
    if (got != 4 || seen != 0x306) {
        fprintf(stderr, "one poll: %d completions, %#lx\n", got, (unsigned long)seen);
        return 1;
    }
    puts("PASS");
    return 0;
}
