/* One end of a reliable connection that is told what to do: one command a line, one answer a line. Knows nothing of
 * udckpt. */
#include "fabric_connect.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

enum { SLOT = 16384, SLOTS = 64, COUNTER = SLOTS - 1, POLL_MS = 10000 };

static struct end own, peer;
static struct ibv_mr peer_mr;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

#define SAY(...) \
    do { \
        pthread_mutex_lock(&output); \
        printf(__VA_ARGS__); \
        fflush(stdout); \
        pthread_mutex_unlock(&output); \
    } while (0)

static const unsigned access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

static void open_end(int with_srq, int unreliable)
{
    own = (struct end){.size = (size_t)SLOT * SLOTS, .context = open_soft()};
    own.pd = ibv_alloc_pd(own.context);
    own.memory = aligned_alloc(4096, own.size);
    CHECK(own.pd && own.memory);
    memset(own.memory, 0, own.size);
    CHECK(own.mr = ibv_reg_mr_iova2(own.pd, own.memory, own.size, (uintptr_t)own.memory, access_flags));
    own.channel = ibv_create_comp_channel(own.context);
    own.send_cq = ibv_create_cq(own.context, 32, NULL, NULL, 0);
    own.recv_cq = ibv_create_cq(own.context, 32, &own, own.channel, 0);
    CHECK(own.channel && own.send_cq && own.recv_cq);
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = 32, .max_sge = 1}};
    if (with_srq)
        CHECK(own.srq = ibv_create_srq(own.pd, &srq));
    struct ibv_qp_init_attr init = {.send_cq = own.send_cq,
                                    .recv_cq = own.recv_cq,
                                    .srq = own.srq,
                                    .qp_type = unreliable ? IBV_QPT_UC : IBV_QPT_RC,
                                    .cap = {32, 32, 2, 2, 64}};
    CHECK(own.qp = ibv_create_qp(own.pd, &init));
    EQUAL(0, to_init_rc(own.qp, access_flags));
}

static void address(void)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    EQUAL(0, ibv_query_qp(own.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN, &init));
    SAY("address %u %u %u %" PRIu64 " %u state %d peer %u %u\n", own_lid(own.context), own.qp->qp_num, own.mr->rkey,
        (uint64_t)(uintptr_t)own.memory, own.mr->lkey, attr.qp_state, attr.ah_attr.dlid, attr.dest_qp_num);
}

/* Everything that the peer was told by other means. */
static void connect_to(uint16_t lid, uint32_t qpn, uint32_t rkey, uint64_t memory, int timeout)
{
    struct pair_options options = {.mtu = IBV_MTU_1024, .min_rnr_timer = 1, .timeout = timeout};
    peer_mr = (struct ibv_mr){.rkey = rkey};
    peer = (struct end){.memory = (char *)(uintptr_t)memory, .mr = &peer_mr};
    int unreliable = own.qp->qp_type == IBV_QPT_UC;
    EQUAL(0, unreliable ? to_rtr_uc(own.qp, qpn, lid, options, 7) : to_rtr_rc(own.qp, qpn, lid, options, 7));
    EQUAL(0, unreliable ? to_rts_uc(own.qp, 7) : to_rts_rc(own.qp, options, 7));
    SAY("connected\n");
}

static unsigned flags_of(const char *letters)
{
    return (strchr(letters, 's') ? IBV_SEND_SIGNALED : 0) | (strchr(letters, 'i') ? IBV_SEND_INLINE : 0) |
           (strchr(letters, 'f') ? IBV_SEND_FENCE : 0);
}

static int opcode_of(const char *name, enum ibv_wr_opcode *opcode)
{
    static const struct {
        const char *name;
        enum ibv_wr_opcode opcode;
    } all[] = {{"send", IBV_WR_SEND},
               {"send-imm", IBV_WR_SEND_WITH_IMM},
               {"write", IBV_WR_RDMA_WRITE},
               {"write-imm", IBV_WR_RDMA_WRITE_WITH_IMM},
               {"read", IBV_WR_RDMA_READ},
               {"add", IBV_WR_ATOMIC_FETCH_AND_ADD},
               {"swap", IBV_WR_ATOMIC_CMP_AND_SWP}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(name, all[i].name)) {
            *opcode = all[i].opcode;
            return 1;
        }
    return 0;
}

/* Into one slot, as one element or two halves. */
static int receive(unsigned slot, unsigned length, int halved)
{
    uint32_t first = halved ? length / 2 : length;
    struct ibv_sge sges[] = {sge_at(&own, (size_t)slot * SLOT, first),
                             sge_at(&own, (size_t)slot * SLOT + first, length - first)};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = sges, .num_sge = halved ? 2 : 1}, *bad;
    return own.srq ? ibv_post_srq_recv(own.srq, &wr, &bad) : ibv_post_recv(own.qp, &wr, &bad);
}

/* OPERATION SLOT REMOTE-SLOT LENGTH SEED FLAGS: slot and wr_id are one; the slot is filled first, unless it will be
 * read into. */
static void operate(enum ibv_wr_opcode opcode, unsigned slot, unsigned remote, unsigned length, unsigned seed,
                    const char *letters)
{
    struct operation operation = {.opcode = opcode,
                                  .id = slot,
                                  .local = (size_t)slot * SLOT,
                                  .remote = (size_t)remote * SLOT,
                                  .length = length,
                                  .flags = flags_of(letters),
                                  .immediate = seed,
                                  .compare_add = seed,
                                  .swap = seed + 1,
                                  .halved = strchr(letters, 'h') != NULL};
    if (opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD && opcode != IBV_WR_ATOMIC_CMP_AND_SWP)
        fill(own.memory + operation.local, length, seed);
    int error = post(&own, &peer, operation);
    if (operation.flags & IBV_SEND_INLINE)
        memset(own.memory + operation.local, 0, length);
    SAY("posted %d\n", error);
}

static void poll_one(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    if (!await_wc(cq, 1, &wc)) {
        SAY("nothing\n");
        return;
    }
    SAY("completion %lu status %d opcode %d bytes %u imm %u qp %u\n", wc.wr_id, wc.status, wc.opcode,
        wc.opcode & IBV_WC_RECV ? wc.byte_len : 0,
        wc.wc_flags & IBV_WC_WITH_IMM   ? ntohl(wc.imm_data)
        : wc.wc_flags & IBV_WC_WITH_INV ? wc.invalidated_rkey
                                        : 0,
        wc.qp_num);
}

/* Further regions of the same memory. */
static struct ibv_mr *regions[4096];

static void add_region(void)
{
    struct ibv_mr *mr = ibv_reg_mr_iova2(own.pd, own.memory, own.size, (uintptr_t)own.memory, access_flags);
    unsigned i = 0;
    while (i < sizeof regions / sizeof *regions && regions[i])
        i++;
    CHECK(mr && i < sizeof regions / sizeof *regions);
    regions[i] = mr;
    SAY("region %u\n", mr->rkey);
}

static void drop_region(uint32_t rkey)
{
    for (unsigned i = 0; i < sizeof regions / sizeof *regions; i++)
        if (regions[i] && regions[i]->rkey == rkey) {
            EQUAL(0, ibv_dereg_mr(regions[i]));
            regions[i] = NULL;
            SAY("dropped\n");
            return;
        }
    SAY("no region %u\n", rkey);
}

/* Memory windows over slots of the memory. */
static struct ibv_mw *windows[8];

static void make_window(unsigned i, int type)
{
    CHECK(windows[i] = ibv_alloc_mw(own.pd, (enum ibv_mw_type)type));
    SAY("window %u\n", windows[i]->rkey);
}

/* Type 1 by the call for it, type 2 by a request; wr_id: 70 and the window's number. */
static void bind_window(unsigned i, unsigned slot, unsigned length)
{
    struct ibv_mw *mw = windows[i];
    struct ibv_mw_bind_info info = {.mr = own.mr,
                                    .addr = (uintptr_t)own.memory + (size_t)slot * SLOT,
                                    .length = length,
                                    .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    struct ibv_mw_bind bind = {.wr_id = 70 + i, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    struct ibv_send_wr wr = {.wr_id = 70 + i,
                             .opcode = IBV_WR_BIND_MW,
                             .send_flags = IBV_SEND_SIGNALED,
                             .bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = info}},
                       *bad;
    int error = mw->type == IBV_MW_TYPE_1 ? ibv_bind_mw(own.qp, mw, &bind) : ibv_post_send(own.qp, &wr, &bad);
    if (!error && mw->type == IBV_MW_TYPE_2)
        mw->rkey = wr.bind_mw.rkey;
    SAY("bound %d %u\n", error, mw->rkey);
}

/* An own key by a request of its own (LOCAL_INV), or one of the peer's by a message. */
static void invalidate(unsigned id, uint32_t key, int by_message)
{
    struct ibv_sge sge = sge_at(&own, 0, 16);
    struct ibv_send_wr wr = {.wr_id = id,
                             .sg_list = &sge,
                             .num_sge = by_message,
                             .opcode = by_message ? IBV_WR_SEND_WITH_INV : IBV_WR_LOCAL_INV,
                             .send_flags = IBV_SEND_SIGNALED,
                             .invalidate_rkey = key},
                       *bad;
    int error = ibv_post_send(own.qp, &wr, &bad);
    SAY("posted %d\n", error);
}

static void *sleeper(void *unused)
{
    struct ibv_cq *cq;
    void *context;
    EQUAL(0, ibv_req_notify_cq(own.recv_cq, 0));
    SAY("armed\n");
    EQUAL(0, ibv_get_cq_event(own.channel, &cq, &context));
    CHECK(cq == own.recv_cq && context == &own);
    ibv_ack_cq_events(cq, 1);
    poll_one(cq);
    return unused;
}

/* As a new process does not have them: behind the back of every thread, and of what watches threads. */
static void close_all(char *fds)
{
    for (char *fd = strtok(fds, " \n"); fd; fd = strtok(NULL, " \n"))
        EQUAL(0, syscall(SYS_close, atoi(fd)));
    SAY("closed\n");
}

static void obey(char *line);

static void *obey_alone(void *line)
{
    obey(line);
    free(line);
    return NULL;
}

static void obey(char *line)
{
    char word[64], letters[16];
    unsigned a, b, c, d;
    uint64_t memory;
    enum ibv_wr_opcode opcode;
    pthread_t thread;
    if (!strncmp(line, "open", 4)) {
        open_end(strstr(line, "srq") != NULL, strstr(line, "uc") != NULL);
        address();
    } else if (!strncmp(line, "address", 7)) {
        address();
    } else if (sscanf(line, "connect %u %u %u %" SCNu64 " %u", &a, &b, &c, &memory, &d) == 5) {
        connect_to((uint16_t)a, b, c, memory, (int)d);
    } else if (sscanf(line, "receive %u %u", &a, &b) == 2) {
        /* before the answer's lock: it may wait at the gate */
        int error = receive(a, b, strstr(line, "halved") != NULL);
        SAY("posted %d\n", error);
    } else if (sscanf(line, "poll %63s", word) == 1) {
        poll_one(!strcmp(word, "sends") ? own.send_cq : own.recv_cq);
    } else if (!strncmp(line, "empty", 5)) {
        SAY("%s\n", stays_empty(own.send_cq) && stays_empty(own.recv_cq) ? "empty" : "not empty");
    } else if (sscanf(line, "check %u %u %u", &a, &b, &c) == 3) {
        SAY("%s\n", is_filled(own.memory + (size_t)a * SLOT, b, c) ? "right" : "wrong");
    } else if (sscanf(line, "value %u", &a) == 1) {
        SAY("value %lu\n", *(unsigned long *)(own.memory + (size_t)a * SLOT));
    } else if (!strncmp(line, "sleep", 5)) {
        pthread_create(&thread, NULL, sleeper, NULL);
        pthread_detach(thread);
    } else if (!strncmp(line, "alone ", 6)) { /* in a thread of its own, whose answer comes when it comes */
        SAY("begun\n");
        pthread_create(&thread, NULL, obey_alone, strdup(line + 6));
        pthread_detach(thread);
    } else if (!strncmp(line, "break", 5)) { /* a send whose key no memory has */
        struct ibv_sge sge = {.addr = (uintptr_t)own.memory, .length = 1, .lkey = own.mr->lkey ^ 0x500};
        struct ibv_send_wr wr = {.wr_id = 99, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
        SAY("posted %d\n", ibv_post_send(own.qp, &wr, &bad));
    } else if (!strncmp(line, "mend", 4)) {
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
        SAY("mended %d\n", ibv_modify_qp(own.qp, &attr, IBV_QP_STATE));
    } else if (sscanf(line, "window %u %u", &a, &b) == 2) {
        make_window(a, (int)b);
    } else if (sscanf(line, "bind %u %u %u", &a, &b, &c) == 3) {
        bind_window(a, b, c);
    } else if (sscanf(line, "take-back %u %u", &a, &b) == 2) {
        invalidate(a, b, 0);
    } else if (sscanf(line, "send-inv %u %u", &a, &b) == 2) {
        invalidate(a, b, 1);
    } else if (!strncmp(line, "region", 6)) {
        add_region();
    } else if (sscanf(line, "drop %u", &a) == 1) {
        drop_region(a);
    } else if (sscanf(line, "aim %u", &a) == 1) {
        peer_mr.rkey = a;
        SAY("aimed\n");
    } else if (!strncmp(line, "close ", 6)) {
        close_all(line + 6);
    } else if (sscanf(line, "%63s %u %u %u %u %15s", word, &a, &b, &c, &d, letters) == 6 && opcode_of(word, &opcode)) {
        operate(opcode, a, b, c, d, letters);
    } else {
        SAY("unknown command %s", line);
    }
}

int main(void)
{
    static char line[65536];
    while (fgets(line, sizeof line, stdin))
        obey(line);
    return 0;
}
