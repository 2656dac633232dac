/* Addresses: what the device says of itself, the GRH, and the way back to a sender on another host. */
#include "fabric.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void identity(void)
{
    struct ibv_context *context = open_soft();
    struct ibv_port_attr port;
    struct ibv_gid_entry entry, table[4];
    union ibv_gid gid;
    __be16 pkey;
    EQUAL(0, ibv_query_port(context, 1, &port));
    EQUAL(EINVAL, ibv_query_port(context, 2, &port));
    EQUAL(0, ibv_query_port(context, 1, &port));
    EQUAL(1, port.lid);
    EQUAL(IBV_PORT_ACTIVE, port.state);
    EQUAL(IBV_LINK_LAYER_INFINIBAND, port.link_layer);
    EQUAL(IBV_MTU_4096, port.active_mtu);
    struct ibv_port_attr old;
    memset(&old, 0xaa, sizeof old);
    EQUAL(0, (ibv_query_port)(context, 1, (struct _compat_ibv_port_attr *)&old)); /* the symbol, not the macro */
    EQUAL(1, old.lid);
    EQUAL(0xaaaa, old.port_cap_flags2);
    EQUAL(0, ibv_query_gid(context, 1, 0, &gid));
    EQUAL(-1, ibv_query_gid(context, 1, 1, &gid));
    EQUAL(EINVAL, errno);
    EQUAL(0, ibv_query_pkey(context, 1, 0, &pkey));
    EQUAL(0xffff, ntohs(pkey));
    EQUAL(-1, ibv_query_pkey(context, 1, 1, &pkey));
    EQUAL(0, ibv_get_pkey_index(context, 1, htons(0xffff)));
    EQUAL(-1, ibv_get_pkey_index(context, 1, htons(0x7fff)));
    EQUAL(0, ibv_query_gid_ex(context, 1, 0, &entry, 0));
    EQUAL(0, memcmp(&entry.gid, &gid, sizeof gid));
    EQUAL(EINVAL, ibv_query_gid_ex(context, 1, 1, &entry, 0));
    EQUAL(1, ibv_query_gid_table(context, table, 4, 0));
    EQUAL(0, memcmp(&table[0].gid, &gid, sizeof gid));
    struct ibv_device_attr device;
    EQUAL(0, ibv_query_device(context, &device));
    EQUAL(device.node_guid, ibv_get_device_guid(context->device));
    EQUAL(device.node_guid, gid.global.interface_id);
}

/* What stat was in programs built before glibc 2.33. */
int old_stat(int version, const char *path, struct stat *status);
__asm__(".symver old_stat,__xstat@GLIBC_2.2.5");

/* /dev/infiniband/uverbs0 looks like a device and cannot be opened. */
static void device_file(void)
{
    struct stat status;
    EQUAL(0, stat("/dev/infiniband/uverbs0", &status));
    CHECK(S_ISCHR(status.st_mode));
    EQUAL(0, access("/dev/infiniband/uverbs0", R_OK | W_OK));
    EQUAL(-1, open("/dev/infiniband/uverbs0", O_RDWR));
    EQUAL(ENODEV, errno);
    EQUAL(-1, openat(AT_FDCWD, "/dev/infiniband/uverbs0", O_RDWR));
    EQUAL(-1, stat("/dev/infiniband/no-such-device", &status));
    EQUAL(ENOENT, errno);
    EQUAL(0, stat("/dev/null", &status));
    EQUAL(0, old_stat(1, "/dev/infiniband/uverbs0", &status));
    CHECK(S_ISCHR(status.st_mode));
    EQUAL(0, old_stat(1, "/", &status));
    CHECK(S_ISDIR(status.st_mode));
    int fd = open("/dev/null", O_RDWR);
    CHECK(fd >= 0);
    close(fd);
    char path[] = "/tmp/fabric-mode-XXXXXX";
    CHECK(mkdtemp(path));
    char file[64];
    snprintf(file, sizeof file, "%s/f", path);
    umask(0);
    fd = open(file, O_CREAT | O_WRONLY, 0640); /* the third argument is passed on */
    CHECK(fd >= 0);
    EQUAL(0, fstat(fd, &status));
    EQUAL(0640, status.st_mode & 0777);
    close(fd);
    unlink(file);
    rmdir(path);
}

static struct ibv_ah *global_ah(struct end *a, uint16_t lid, const union ibv_gid *gid)
{
    struct ibv_ah_attr attr = {.dlid = lid,
                               .port_num = 1,
                               .is_global = 1,
                               .sl = 5,
                               .grh = {.dgid = *gid, .flow_label = 0xabcde, .hop_limit = 9, .traffic_class = 0x42}};
    return ibv_create_ah(a->pd, &attr);
}

static void grh(void)
{
    struct end a = make_end((struct end_options){0});
    union ibv_gid gid;
    EQUAL(0, ibv_query_gid(a.context, 1, 0, &gid));
    struct ibv_sge sge = sge_at(&a, 0x10000, 10);
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
    wr.wr.ud.ah = global_ah(&a, 1, &gid);
    CHECK(wr.wr.ud.ah);
    /* The GRH is scattered like anything else: 16 + 4 + 20 bytes here. */
    struct ibv_sge in[3] = {sge_at(&a, 0, 16), sge_at(&a, 1000, 4), sge_at(&a, 2000, 200)};
    struct ibv_recv_wr recv = {.sg_list = in, .num_sge = 3}, *bad_recv;
    struct ibv_wc wc;
    EQUAL(0, ibv_post_recv(a.qp, &recv, &bad_recv));
    fill(a.memory + 0x10000, 10, 3);
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(IBV_WC_GRH, wc.wc_flags);
    EQUAL(5, wc.sl);
    EQUAL(GRH + 10, wc.byte_len);
    struct ibv_grh header;
    memcpy(&header, a.memory, 16);
    memcpy((char *)&header + 16, a.memory + 1000, 4);
    memcpy((char *)&header + 20, a.memory + 2000, 20);
    EQUAL(0x642abcde, ntohl(header.version_tclass_flow));
    EQUAL(24 + 12, ntohs(header.paylen));
    EQUAL(0x1b, header.next_hdr);
    EQUAL(9, header.hop_limit);
    EQUAL(0, memcmp(&header.sgid, &gid, 16));
    EQUAL(0, memcmp(&header.dgid, &gid, 16));
    CHECK(is_filled(a.memory + 2000 + 20, 10, 3));
}

static void bad_address(void)
{
    struct ibv_context *context = open_soft();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_ah_attr no_gid = {.dlid = 1, .port_num = 1, .is_global = 1, .grh = {.sgid_index = 1}};
    struct ibv_ah_attr no_port = {.dlid = 1, .port_num = 2}, no_level = {.dlid = 1, .port_num = 1, .sl = 16};
    struct ibv_ah_attr *wrong[] = {&no_gid, &no_port, &no_level};
    for (int i = 0; i < 3; i++) {
        errno = 0;
        CHECK(!ibv_create_ah(pd, wrong[i]));
        EQUAL(EINVAL, errno);
    }
}

struct name {
    uint32_t qpn;
    uint16_t lid;
    union ibv_gid gid;
};

static struct name name_of(struct end *a)
{
    struct ibv_port_attr port;
    struct name name = {.qpn = a->qp->qp_num};
    EQUAL(0, ibv_query_port(a->context, 1, &port));
    name.lid = port.lid;
    EQUAL(0, ibv_query_gid(a->context, 1, 0, &name.gid));
    return name;
}

/* Another host: answers each datagram to where its completion says that it came from. */
static int echo(int out)
{
    struct end a = make_end((struct end_options){0});
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0, post_recv(&a, i * 1024, 256));
    struct name name = name_of(&a);
    EQUAL(sizeof name, write(out, &name, sizeof name));
    for (int i = 0; i < 2; i++) {
        struct ibv_wc wc;
        EQUAL(1, poll_for(a.recv_cq, 1, &wc));
        EQUAL(7, wc.slid);
        struct ibv_ah *back = ibv_create_ah_from_wc(a.pd, &wc, (struct ibv_grh *)(a.memory + wc.wr_id), 1);
        CHECK(back);
        struct ibv_sge sge = sge_at(&a, wc.wr_id + GRH, wc.byte_len - GRH);
        struct ibv_send_wr wr = {.sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_SEND,
                                 .wr.ud = {.ah = back, .remote_qpn = wc.src_qp, .remote_qkey = QKEY}},
                           *bad;
        EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
        EQUAL(0, ibv_destroy_ah(back));
    }
    return 0;
}

static void start_echo(int out)
{
    char number[16];
    snprintf(number, sizeof number, "%d", out);
    setenv("UDCKPT_SOFT_LID", "0x1234", 1);
    execl("/proc/self/exe", "fabric_address", "echo", number, NULL);
    perror("/proc/self/exe");
    _exit(1);
}

static void reply(void)
{
    int pipes[2];
    EQUAL(0, pipe(pipes));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        start_echo(pipes[1]);
    close(pipes[1]);
    setenv("UDCKPT_SOFT_LID", "7", 1);
    struct end a = make_end((struct end_options){0});
    struct name other;
    EQUAL(sizeof other, read(pipes[0], &other, sizeof other));
    EQUAL(0x1234, other.lid);
    struct name own = name_of(&a);
    CHECK(memcmp(&other.gid, &own.gid, sizeof other.gid));
    for (int global = 0; global < 2; global++) {
        struct ibv_sge sge = sge_at(&a, 0x10000, 100);
        struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
        wr.wr.ud.ah = global ? global_ah(&a, other.lid, &other.gid) : ah_to(a.pd, other.lid);
        wr.wr.ud.remote_qpn = other.qpn;
        fill(a.memory + 0x10000, 100, (unsigned)global);
        EQUAL(0, post_recv(&a, 0, 256));
        EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
        struct ibv_wc wc;
        EQUAL(1, poll_for(a.recv_cq, 1, &wc));
        EQUAL(other.lid, wc.slid);
        EQUAL(other.qpn, wc.src_qp);
        EQUAL(global ? IBV_WC_GRH : 0, wc.wc_flags);
        CHECK(is_filled(a.memory + GRH, 100, (unsigned)global));
    }
    int status;
    EQUAL(child, waitpid(child, &status, 0));
    EQUAL(0, status);
}

/* Queue pairs of one host have different numbers, whichever process and context made them. */
static void unique_numbers(void)
{
    setenv("UDCKPT_SOFT_QPNS", "20000-20007", 1);
    setenv("UDCKPT_SOFT_LID", "0xb0b", 1);
    struct ibv_context *context[2] = {open_soft(), open_soft()};
    struct ibv_qp *qp[8];
    uint32_t seen = 0;
    for (int i = 0; i < 9; i++) {
        struct ibv_cq *cq = ibv_create_cq(context[i % 2], 8, NULL, NULL, 0);
        struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD, .cap = {8, 8, 1, 1, 0}};
        struct ibv_qp *made = ibv_create_qp(ibv_alloc_pd(context[i % 2]), &init);
        if (i == 8) {
            CHECK(!made);
            EQUAL(ENOMEM, errno);
            break;
        }
        CHECK(made);
        qp[i] = made;
        CHECK(made->qp_num >= 20000 && made->qp_num <= 20007);
        seen |= 1u << (made->qp_num - 20000);
    }
    EQUAL(0xff, seen);
    EQUAL(0, ibv_destroy_qp(qp[3]));
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "echo"))
        return echo(atoi(argv[2]));
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"identity", identity},
                                            {"device-file", device_file},
                                            {"grh", grh},
                                            {"bad-address", bad_address},
                                            {"reply", reply},
                                            {"unique-numbers", unique_numbers},
                                            {0}});
}
