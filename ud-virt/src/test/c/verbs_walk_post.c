/* Posting, through both interfaces. */
#include "verbs_walk.h"

static int index_of(const char *buffer)
{
    return (int)((size_t)(buffer - walk.memory) / BUFFER);
}

/* Mostly right; sometimes too small, or with a key that no memory has: then the completion is an error. */
static unsigned elements(struct ibv_sge *sges, char *buffer, int *risky)
{
    uint32_t length = *risky && pick(2) ? 8 : BUFFER - 64;
    unsigned first = 1 + pick(length - 1), count = 1 + pick(2);
    sges[0] = (struct ibv_sge){(uintptr_t)buffer, count == 1 ? length : first, walk.mr->lkey};
    sges[1] = (struct ibv_sge){(uintptr_t)buffer + first, length - first, walk.mr->lkey};
    if (*risky && length > 8)
        sges[count - 1].lkey ^= 0x500;
    return count;
}

void walk_receive(void)
{
    int shared = !pick(4), i = (int)pick(shared ? SRQS : QPS), owner = shared ? QPS + 1 + i : i + 1,
        count = 1 + (int)pick(6);
    struct walk_queue *queue = shared ? &walk.srqs[i].queue : &walk.qps[i].queue;
    struct ibv_recv_wr wrs[6], *bad;
    struct ibv_sge sges[6][2];
    if (shared ? !walk.srqs[i].srq
               : !walk.qps[i].qp || walk.qps[i].srq >= 0 || walk_state(&walk.qps[i]) == IBV_QPS_RESET) {
        printf("no queue");
        return;
    }
    if (queue->posted + queue->due + (unsigned)count > RECEIVES || queue->due)
        walk_poll_all();
    if (queue->posted + (unsigned)count > RECEIVES)
        count = (int)(RECEIVES - queue->posted);
    for (int k = 0; k < count; k++) {
        char *buffer = walk_buffer();
        int risky = !pick(60) && !shared && !walk.qps[i].mixed;
        NEED(buffer);
        walk.taken[index_of(buffer)] = (unsigned char)owner;
        wrs[k] = (struct ibv_recv_wr){
            .wr_id = (uint64_t)index_of(buffer), .sg_list = sges[k], .next = k + 1 < count ? &wrs[k + 1] : NULL};
        wrs[k].num_sge = (int)elements(sges[k], buffer, &risky);
        queue->risky |= risky;
    }
    int error = !count   ? 0
                : shared ? ibv_post_srq_recv(walk.srqs[i].srq, wrs, &bad)
                         : ibv_post_recv(walk.qps[i].qp, wrs, &bad);
    if (!error)
        queue->posted += (unsigned)count;
    printf("%s%d receive %d: %d", shared ? "srq" : "qp", i, count, error);
    if (!shared && walk_state(&walk.qps[i]) == IBV_QPS_ERR)
        walk_poll_all(); /* flushed */
}

struct send {
    struct walk_qp *to;
    uint32_t qkey, length;
    unsigned flags;
    int immediate, inlined, broken;
    int group; /* or -1 */
    struct ibv_ah *ah;
    struct ibv_sge sge;
};

/* The datagram says what it is, so that the receiver can tell. */
static void write_datagram(char *at, uint32_t length)
{
    uint32_t head[2] = {walk.sequence++, length};
    memcpy(at, head, sizeof head);
    for (uint32_t k = sizeof head; k < length; k++)
        at[k] = (char)(head[0] + k);
}

static void choose(struct send *s, char *buffer)
{
    s->to = &walk.qps[pick(QPS)];
    s->qkey = pick(8) ? QKEY : OTHER_QKEY;
    s->immediate = !pick(3);
    s->inlined = !pick(3);
    s->length = 8 + pick(s->inlined ? INLINE - 8 : 1200);
    s->broken = !s->inlined && !pick(80);
    s->flags = (pick(2) ? IBV_SEND_SIGNALED : 0) | (pick(3) ? 0 : IBV_SEND_SOLICITED);
    s->group = pick(5) ? -1 : (int)pick(GROUPS);
    s->ah = s->group >= 0 ? walk.groups[s->group] : pick(3) ? walk.plain : walk.global;
    write_datagram(buffer, s->length);
    s->sge = (struct ibv_sge){(uintptr_t)buffer, s->length, s->broken ? walk.mr->lkey ^ 0x700 : walk.mr->lkey};
}

static uint32_t number_of(const struct send *s)
{
    return s->group >= 0 ? 0xffffff : s->to->qp->qp_num;
}

static void post_extended(struct walk_qp *from, const struct send *s)
{
    from->ex->wr_flags = s->flags;
    s->immediate ? ibv_wr_send_imm(from->ex, htobe32(walk.sequence)) : ibv_wr_send(from->ex);
    ibv_wr_set_ud_addr(from->ex, s->ah, number_of(s), s->qkey);
    if (s->inlined)
        ibv_wr_set_inline_data(from->ex, (void *)(uintptr_t)s->sge.addr, s->length);
    else
        ibv_wr_set_sge(from->ex, s->sge.lkey, s->sge.addr, s->length);
}

static int post_plain(struct walk_qp *from, struct send *s, uint64_t id)
{
    struct ibv_send_wr wr = {.wr_id = id,
                             .sg_list = &s->sge,
                             .num_sge = 1,
                             .opcode = s->immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                             .send_flags = s->flags | (s->inlined ? IBV_SEND_INLINE : 0),
                             .imm_data = htobe32(walk.sequence)},
                       *bad;
    wr.wr.ud.ah = s->ah;
    wr.wr.ud.remote_qpn = number_of(s);
    wr.wr.ud.remote_qkey = s->qkey;
    return ibv_post_send(from->qp, &wr, &bad);
}

/* A datagram beyond what is posted would be lost or not, by when the device looks: such ones are not sent. */
static int is_certain_at(struct walk_qp *to)
{
    struct walk_queue *queue = walk_queue_of(to);
    return queue->due + QPS < queue->posted || (!queue->posted && !queue->due && to->srq < 0);
}

static int is_certain(const struct send *s)
{
    if (s->group < 0)
        return s->to->qp && is_certain_at(s->to);
    for (int i = 0; i < QPS; i++)
        if (walk.qps[i].qp && walk.qps[i].attached[s->group] && !is_certain_at(&walk.qps[i]))
            return 0;
    return 1;
}

/* Before anything is posted: a datagram that has arrived may have failed its receive, and with it the queue pair. */
static void look_who_receives(void)
{
    for (struct walk_qp *qp = walk.qps; qp < walk.qps + QPS; qp++) {
        enum ibv_qp_state state = qp->qp ? walk_state(qp) : IBV_QPS_RESET;
        qp->receives = state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQE;
    }
}

/* Returns whether a receiver has to be looked at, because a receive of it may fail. */
static int arrive_at(struct walk_qp *to, uint32_t qkey)
{
    if (!to->receives || to->qkey != qkey || !walk_queue_of(to)->posted)
        return 0;
    walk_queue_of(to)->due++;
    return walk_queue_of(to)->risky;
}

static int arrive(const struct send *s)
{
    int risky = 0;
    if (s->group < 0)
        return arrive_at(s->to, s->qkey);
    for (int i = 0; i < QPS; i++)
        if (walk.qps[i].qp && walk.qps[i].attached[s->group])
            risky |= arrive_at(&walk.qps[i], s->qkey);
    return risky;
}

static int receives_itself(const struct walk_qp *from, const struct send *s)
{
    return s->group < 0 ? s->to == from : from->attached[s->group];
}

void walk_send(void)
{
    struct walk_qp *from = &walk.qps[pick(QPS)];
    char *buffer = walk.memory + (size_t)BUFFERS * BUFFER;
    unsigned count = 1 + pick(4);
    int poll = 0, extended = from->qp && from->ex && pick(4);
    if (!from->qp) {
        printf("no sender");
        return;
    }
    int sends = walk_state(from) == IBV_QPS_RTS;
    look_who_receives();
    printf("qp%d sends%s", (int)(from - walk.qps), extended ? " extended" : "");
    for (unsigned k = 0; k < count; k++) {
        struct send s;
        choose(&s, buffer);
        if (!is_certain(&s))
            continue;
        uint64_t id = 100000 + walk.sequence;
        int error;
        if (extended) {
            ibv_wr_start(from->ex);
            from->ex->wr_id = id;
            post_extended(from, &s);
            error = ibv_wr_complete(from->ex);
        } else {
            error = post_plain(from, &s, id);
        }
        printf(" %u bytes to %s%d: %d", s.length, s.group < 0 ? "qp" : "group",
               s.group < 0 ? (int)(s.to - walk.qps) : s.group, error);
        if (!error && sends && !s.broken)
            poll |= arrive(&s);
        if (s.broken)
            sends = 0;
        /* What it sends after its own receive failed is flushed or not, by when the device looks. */
        if (poll && receives_itself(from, &s))
            break;
    }
    if (poll)
        walk_poll_all();
}

/* To whom the latest datagram came from, with nothing but its completion and its GRH; restarts may lie between. */
void walk_reply(void)
{
    struct walk_qp *from = &walk.qps[walk.last.qp];
    struct send s = {.group = -1, .qkey = QKEY, .length = 24, .flags = IBV_SEND_SIGNALED};
    walk_poll_all();
    if (!walk.last.there || !from->qp || walk.last.wc.qp_num != from->qp->qp_num)
        return;
    for (int i = 0; i < QPS; i++)
        if (walk.qps[i].qp && walk.qps[i].qp->qp_num == walk.last.wc.src_qp)
            s.to = &walk.qps[i];
    if (!s.to || !is_certain_at(s.to))
        return;
    s.ah = ibv_create_ah_from_wc(walk.pd, &walk.last.wc, &walk.last.grh, 1);
    if (!s.ah) {
        printf("qp%d cannot reply to a group", walk.last.qp);
        return;
    }
    char *buffer = walk.memory + (size_t)BUFFERS * BUFFER;
    write_datagram(buffer, s.length);
    s.sge = (struct ibv_sge){(uintptr_t)buffer, s.length, walk.mr->lkey};
    look_who_receives();
    int sends = walk_state(from) == IBV_QPS_RTS, error = post_plain(from, &s, 100000 + walk.sequence);
    NEED(!ibv_destroy_ah(s.ah));
    printf("qp%d replies to qp%d: %d", walk.last.qp, (int)(s.to - walk.qps), error);
    if (!error && sends && arrive(&s))
        walk_poll_all();
}
