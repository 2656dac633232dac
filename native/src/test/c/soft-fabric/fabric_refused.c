/* Every verb that is not there: each is called twice and fails with EOPNOTSUPP; it is named in one line, or, of
 * capabilities that programs probe for ("asked for"), only when the process ends with an error. The case "all" prints
 * what the lines have to say, the case "failing" does the same and ends so; SoftFabricTest compares them with standard
 * error. */
#include "fabric.h"
#include <dlfcn.h>

static struct end a;

static int failed(const void *made)
{
    return made ? 0 : errno;
}

static int tagged_srq(void)
{
    return failed(ibv_create_srq_ex(
        a.context, &(struct ibv_srq_init_attr_ex){.attr = {16, 1, 0},
                                                  .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
                                                  .srq_type = IBV_SRQT_TM,
                                                  .pd = a.pd}));
}
static int open_qp(void)
{
    return failed(ibv_open_qp(a.context, &(struct ibv_qp_open_attr){.comp_mask = 0}));
}
static int dmabuf_probe(void)
{
    return failed(ibv_reg_dmabuf_mr(a.pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE));
}
static int dmabuf(void)
{
    return failed(ibv_reg_dmabuf_mr(a.pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE));
}
static int rereg(void)
{
    return ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) ? errno : 0;
}
static int null_mr(void)
{
    return failed(ibv_alloc_null_mr(a.pd));
}
static int device_memory(void)
{
    return failed(ibv_alloc_dm(a.context, &(struct ibv_alloc_dm_attr){.length = 64}));
}
static void *allocate(struct ibv_pd *pd, void *context, size_t size, size_t alignment, uint64_t resource)
{
    return NULL;
}
static void release(struct ibv_pd *pd, void *context, void *memory, uint64_t resource)
{
}
static int parent_domain(void)
{
    return failed(ibv_alloc_parent_domain(
        a.context,
        &(struct ibv_parent_domain_init_attr){
            .pd = a.pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS, .alloc = allocate, .free = release}));
}
static int counters(void)
{
    return failed(ibv_create_counters(a.context, &(struct ibv_counters_init_attr){0}));
}
static int flow(void)
{
    return failed(ibv_create_flow(a.qp, &(struct ibv_flow_attr){.size = sizeof(struct ibv_flow_attr), .port = 1}));
}
static int flow_action(void)
{
    return failed(ibv_create_flow_action_esp(a.context, &(struct ibv_flow_action_esp_attr){0}));
}
static int work_queue(void)
{
    return failed(ibv_create_wq(
        a.context,
        &(struct ibv_wq_init_attr){.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = a.pd, .cq = a.recv_cq}));
}
static int indirection(void)
{
    return failed(ibv_create_rwq_ind_table(a.context, &(struct ibv_rwq_ind_table_init_attr){0}));
}
static int moderation(void)
{
    return ibv_modify_cq(a.send_cq, &(struct ibv_modify_cq_attr){.attr_mask = IBV_CQ_ATTR_MODERATE});
}
static int rate_limit(void)
{
    return ibv_modify_qp_rate_limit(a.qp, &(struct ibv_qp_rate_limit_attr){.rate_limit = 1});
}
static int srq_ops(void)
{
    struct ibv_ops_wr op = {.opcode = IBV_WR_TAG_SYNC}, *bad = NULL;
    int error = ibv_post_srq_ops(&(struct ibv_srq){.context = a.context}, &op, &bad);
    CHECK(bad == &op);
    return error;
}
static int device_clock(void)
{
    return ibv_query_rt_values_ex(a.context, &(struct ibv_values_ex){.comp_mask = IBV_VALUES_MASK_RAW_CLOCK});
}
static int query_ece(void)
{
    return ibv_query_ece(a.qp, &(struct ibv_ece){0});
}
static int set_ece(void)
{
    return ibv_set_ece(a.qp, &(struct ibv_ece){0});
}
static int import_device(void)
{
    return failed(ibv_import_device(0));
}
static int import_pd(void)
{
    return failed(ibv_import_pd(a.context, 1));
}
static int import_mr(void)
{
    return failed(ibv_import_mr(a.pd, 1));
}
static int import_dm(void)
{
    return failed(ibv_import_dm(a.context, 1));
}
static int ethernet_address(void)
{
    return ibv_resolve_eth_l2_from_gid(a.context, &(struct ibv_ah_attr){0}, (uint8_t[6]){0}, &(uint16_t){0});
}
/* What mlx5dv_open_device and its like call. */
static int vendors_device(void)
{
    struct ibv_context *(*open_device)(struct ibv_device *, void *) = dlsym(RTLD_DEFAULT, "verbs_open_device");
    CHECK(open_device);
    return failed(open_device(a.context->device, NULL));
}
static int cq_ex(uint64_t fields, uint32_t mask, uint32_t flags)
{
    return failed(ibv_create_cq_ex(
        a.context, &(struct ibv_cq_init_attr_ex){
                       .cqe = 4, .wc_flags = fields, .comp_mask = mask, .flags = flags, .parent_domain = a.pd}));
}
static int time_stamps(void)
{
    return cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0, 0);
}
static int ignore_overrun(void)
{
    return cq_ex(0, IBV_CQ_INIT_ATTR_MASK_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
}
static struct ibv_qp_init_attr_ex qp_attr(uint32_t mask)
{
    return (struct ibv_qp_init_attr_ex){.send_cq = a.send_cq,
                                        .recv_cq = a.recv_cq,
                                        .cap = {16, 16, 2, 2, 0},
                                        .qp_type = IBV_QPT_UD,
                                        .comp_mask = IBV_QP_INIT_ATTR_PD | mask,
                                        .pd = a.pd};
}
static int scaling_qp(void)
{
    struct ibv_qp_init_attr_ex attr = qp_attr(IBV_QP_INIT_ATTR_IND_TABLE);
    return failed(ibv_create_qp_ex(a.context, &attr));
}
static int offload_qp(void)
{
    struct ibv_qp_init_attr_ex attr = qp_attr(IBV_QP_INIT_ATTR_MAX_TSO_HEADER);
    attr.max_tso_header = 64;
    return failed(ibv_create_qp_ex(a.context, &attr));
}
static int flagged_qp(void)
{
    struct ibv_qp_init_attr_ex attr = qp_attr(IBV_QP_INIT_ATTR_CREATE_FLAGS);
    attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
    return failed(ibv_create_qp_ex(a.context, &attr));
}
static int windows_qp(void)
{
    struct ibv_qp_init_attr_ex attr = qp_attr(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS); /* of datagrams */
    attr.send_ops_flags = IBV_QP_EX_WITH_BIND_MW;
    return failed(ibv_create_qp_ex(a.context, &attr));
}
static int raw_qp(void)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = a.send_cq, .recv_cq = a.recv_cq, .qp_type = IBV_QPT_RAW_PACKET, .cap = {16, 16, 2, 2, 0}};
    return failed(ibv_create_qp(a.pd, &attr));
}
static int drained(void)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD};
    int error = ibv_modify_qp(a.qp, &attr, IBV_QP_STATE);
    EQUAL(IBV_QPS_RTS, state_of(a.qp));
    return error;
}

static const struct {
    const char *said;
    int (*call)(void);
} table[] = {
    {"ibv_create_srq_ex with tag matching is not", tagged_srq},
    {"ibv_open_qp is not", open_qp},
    {"asked for ibv_reg_dmabuf_mr,", dmabuf_probe},
    {"ibv_reg_dmabuf_mr is not", dmabuf},
    {"ibv_rereg_mr is not", rereg},
    {"asked for ibv_alloc_null_mr,", null_mr},
    {"asked for ibv_alloc_dm,", device_memory},
    {"ibv_alloc_parent_domain with allocators is not", parent_domain},
    {"asked for ibv_create_counters,", counters},
    {"ibv_create_flow is not", flow},
    {"ibv_create_flow_action_esp is not", flow_action},
    {"ibv_create_wq is not", work_queue},
    {"ibv_create_rwq_ind_table is not", indirection},
    {"asked for ibv_modify_cq,", moderation},
    {"asked for ibv_modify_qp_rate_limit,", rate_limit},
    {"ibv_post_srq_ops is not", srq_ops},
    {"asked for ibv_query_rt_values_ex,", device_clock},
    {"asked for ibv_query_ece,", query_ece},
    {"asked for ibv_set_ece,", set_ece},
    {"ibv_import_device is not", import_device},
    {"ibv_import_pd is not", import_pd},
    {"ibv_import_mr is not", import_mr},
    {"ibv_import_dm is not", import_dm},
    {"ibv_resolve_eth_l2_from_gid is not", ethernet_address},
    {"verbs_open_device is not", vendors_device},
    {"asked for ibv_create_cq_ex with time stamps", time_stamps},
    {"asked for ibv_create_cq_ex with IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,", ignore_overrun},
    {"ibv_create_qp_ex with receive-side scaling is not", scaling_qp},
    {"ibv_create_qp_ex with segmentation offload is not", offload_qp},
    {"ibv_create_qp_ex with create_flags is not", flagged_qp},
    {"ibv_create_qp_ex with these send operations is not", windows_qp},
    {"ibv_create_qp is not supported for queue pairs of type", raw_qp},
    {"ibv_modify_qp is not supported for the send queue drained state", drained},
};

static void all(void)
{
    a = make_end((struct end_options){0});
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
            errno = 0;
            int error = table[i].call();
            if (error != EOPNOTSUPP) {
                fprintf(stderr, "%s: error %d (%s)\n", table[i].said, error, strerror(error));
                exit(1);
            }
            if (!round)
                puts(table[i].said);
        }
    EQUAL(0, post_recv(&a, 0, 512)); /* and none has done any harm */
    EQUAL(0, post_send(&a, &a, 4096, 8, IBV_SEND_SIGNALED));
    struct ibv_wc wc;
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

static void failing(void)
{
    all();
    exit(3);
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv, (struct fabric_case[]){{"all", all}, {"failing", failing}, {0}});
}
