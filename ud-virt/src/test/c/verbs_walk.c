#include "verbs_walk.h"
#include <sys/random.h>
#include <unistd.h>

struct walk walk;

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint32_t pick(uint32_t below)
{
    uint64_t z = walk.random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ z >> 31) % below);
}

enum ibv_qp_state walk_state(const struct walk_qp *qp)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    NEED(!ibv_query_qp(qp->qp, &attr, IBV_QP_STATE, &init));
    return attr.qp_state;
}

struct walk_queue *walk_queue_of(struct walk_qp *qp)
{
    return qp->srq < 0 ? &qp->queue : &walk.srqs[qp->srq].queue;
}

char *walk_buffer(void)
{
    unsigned first = pick(BUFFERS);
    for (unsigned i = 0; i < BUFFERS; i++)
        if (!walk.taken[(first + i) % BUFFERS])
            return walk.memory + (size_t)((first + i) % BUFFERS) * BUFFER;
    return NULL;
}

static void make_addresses(void)
{
    struct ibv_ah_attr attr = {.dlid = walk.lid, .port_num = 1};
    NEED(walk.plain = ibv_create_ah(walk.pd, &attr));
    attr.is_global = 1;
    attr.grh.dgid = walk.gid;
    attr.grh.hop_limit = 5;
    NEED(walk.global = ibv_create_ah(walk.pd, &attr));
    for (int g = 0; g < GROUPS; g++) { /* nobody else is in these groups */
        attr.dlid = walk.mlids[g] = (uint16_t)(0xc000 + g);
        attr.grh.dgid = (union ibv_gid){.raw = {0xff, 0x12, 0xa0}};
        NEED(getrandom(attr.grh.dgid.raw + 4, 12, 0) == 12);
        walk.mgids[g] = attr.grh.dgid;
        NEED(walk.groups[g] = ibv_create_ah(walk.pd, &attr));
    }
}

void walk_open(uint64_t seed)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_port_attr port;
    size_t bytes = (size_t)(BUFFERS + 1) * BUFFER;
    walk.random = seed;
    NEED(list && list[0]);
    NEED(walk.context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    NEED(walk.pd = ibv_alloc_pd(walk.context));
    NEED(walk.memory = aligned_alloc(4096, bytes));
    NEED(walk.mr = ibv_reg_mr(walk.pd, walk.memory, bytes, IBV_ACCESS_LOCAL_WRITE));
    NEED(!ibv_query_port(walk.context, 1, &port) && !ibv_query_gid(walk.context, 1, 0, &walk.gid));
    walk.lid = port.lid;
    make_addresses();
}

static void step(void)
{
    static const struct {
        void (*run)(void);
        unsigned weight;
    } kinds[] = {{walk_receive, 26}, {walk_send, 34},  {walk_poll_all, 10},    {walk_objects, 8}, {walk_modify, 8},
                 {walk_notify, 6},   {walk_event, 4},  {walk_async, 1},        {walk_query, 1},   {walk_groups, 2},
                 {walk_reply, 4},    {walk_resize, 1}, {walk_connections, 35}, {walk_xrc, 20}};
    unsigned at = pick(160);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; at -= kinds[i++].weight)
        if (at < kinds[i].weight) {
            kinds[i].run();
            return;
        }
}

/* verbs_walk SEED; commands: "go COUNT" makes so many steps, "close FD ..." closes descriptors. */
int main(int argc, char **argv)
{
    char line[65536];
    unsigned count, number = 0;
    NEED(argc == 2);
    walk_open(strtoull(argv[1], NULL, 0));
    puts("open");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "go %u", &count) == 1) {
            for (; count; count--) {
                printf("step %u ", number++);
                step();
                putchar('\n');
            }
            puts("done");
        } else if (!strncmp(line, "close ", 6)) {
            for (char *fd = strtok(line + 6, " \n"); fd; fd = strtok(NULL, " \n"))
                NEED(!close(atoi(fd)));
            puts("closed");
        }
        fflush(stdout);
    }
    return 0;
}
