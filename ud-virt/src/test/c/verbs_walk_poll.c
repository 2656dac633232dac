/* Completions, by both interfaces. All that there are, so that how they are spread over calls is not part of the
 * history. */
#include "verbs_walk.h"

enum { LINES = CQ_SIZE, LINE = 160, BATCH = 64 };

static struct line {
    int qp, receive, order;
    char text[LINE];
} lines[LINES];
static int used;

static int qp_of(uint32_t number)
{
    for (int i = 0; i < QPS; i++)
        if (walk.qps[i].qp && walk.qps[i].qp->qp_num == number)
            return i;
    return -1;
}

static const char *payload(const struct ibv_wc *wc, char *text, size_t size)
{
    const char *buffer = walk.memory + wc->wr_id * BUFFER;
    const struct ibv_grh *grh = (const struct ibv_grh *)buffer;
    const char *routed = !(wc->wc_flags & IBV_WC_GRH)              ? "no GRH"
                         : memcmp(&grh->sgid, &walk.gid, 16)       ? "another's GRH"
                         : !memcmp(&grh->dgid, &walk.mgids[0], 16) ? "group0"
                         : !memcmp(&grh->dgid, &walk.mgids[1], 16) ? "group1"
                         : memcmp(&grh->dgid, &walk.gid, 16)       ? "GRH to another"
                                                                   : "GRH";
    uint32_t head[2], right = 1;
    memcpy(head, buffer + GRH_BYTES, sizeof head);
    for (uint32_t k = sizeof head; k < head[1] && head[1] < BUFFER; k++)
        right &= buffer[GRH_BYTES + k] == (char)(head[0] + k);
    snprintf(text, size, "%s number %u of %u (%u) %s", right ? "whole" : "broken", head[0], head[1], wc->byte_len,
             routed);
    return text;
}

/* Of the copies of one multicast datagram, the first queue pair's. */
static void remember(int qp, const struct ibv_wc *wc)
{
    const char *buffer = walk.memory + wc->wr_id * BUFFER;
    uint32_t number;
    memcpy(&number, buffer + GRH_BYTES, sizeof number);
    if (walk.last.there && (number < walk.last.number || (number == walk.last.number && qp > walk.last.qp)))
        return;
    walk.last.there = 1;
    walk.last.qp = qp;
    walk.last.number = number;
    walk.last.wc = *wc;
    memcpy(&walk.last.grh, buffer, sizeof walk.last.grh);
}

static void note(const struct ibv_wc *wc)
{
    char text[LINE / 2] = "";
    int qp = qp_of(wc->qp_num), receive = wc->wr_id < BUFFERS;
    struct line *line = &lines[used];
    NEED(used < LINES && qp >= 0);
    struct walk_qp *to = &walk.qps[qp];
    *line = (struct line){.qp = qp, .receive = receive, .order = used};
    used++;
    if (!receive) {
        snprintf(line->text, LINE, " [qp%d sent %lu: %d]", qp, (unsigned long)wc->wr_id, wc->status);
        return;
    }
    struct walk_queue *queue = walk_queue_of(to);
    queue->posted--;
    queue->due -= queue->due > 0;
    walk.taken[wc->wr_id] = 0;
    if (!wc->status)
        remember(qp, wc);
    /* Which buffer it is depends on who came first, where several send to one queue by several ways. */
    int buffer = to->srq < 0 && !to->mixed ? (int)wc->wr_id : -1;
    if (wc->status) {
        snprintf(line->text, LINE, " [qp%d receive %d: %d]", qp, buffer, wc->status);
        return;
    }
    if (to->mixed)
        memcpy(&line->order, walk.memory + wc->wr_id * BUFFER + GRH_BYTES, sizeof line->order);
    snprintf(line->text, LINE, " [qp%d received %d from qp%d%s imm %u %s]", qp, buffer, qp_of(wc->src_qp),
             wc->slid == walk.lid ? "" : " elsewhere", wc->wc_flags & IBV_WC_WITH_IMM ? be32toh(wc->imm_data) : 0,
             payload(wc, text, sizeof text));
}

static struct ibv_wc current(struct ibv_cq_ex *cq)
{
    struct ibv_wc wc = {.wr_id = cq->wr_id, .status = cq->status, .qp_num = ibv_wc_read_qp_num(cq)};
    if (cq->status)
        return wc;
    wc.opcode = ibv_wc_read_opcode(cq);
    wc.byte_len = ibv_wc_read_byte_len(cq);
    wc.wc_flags = ibv_wc_read_wc_flags(cq);
    wc.src_qp = ibv_wc_read_src_qp(cq);
    wc.slid = (uint16_t)ibv_wc_read_slid(cq);
    wc.imm_data = ibv_wc_read_imm_data(cq);
    return wc;
}

static void poll_extended(struct ibv_cq_ex *cq)
{
    struct ibv_poll_cq_attr attr = {0};
    while (!ibv_start_poll(cq, &attr)) {
        do {
            struct ibv_wc wc = current(cq);
            note(&wc);
        } while (!ibv_next_poll(cq));
        ibv_end_poll(cq);
    }
}

static void poll_plain(struct ibv_cq *cq)
{
    struct ibv_wc wc[BATCH];
    int got;
    while ((got = ibv_poll_cq(cq, BATCH, wc)) > 0)
        for (int k = 0; k < got; k++)
            note(&wc[k]);
    NEED(got == 0);
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->qp != y->qp ? x->qp - y->qp : x->receive != y->receive ? x->receive - y->receive : x->order - y->order;
}

void walk_poll_all(void)
{
    used = 0;
    for (int i = 0; i < CQS; i++) {
        if (!walk.cqs[i].cq)
            continue;
        if (walk.cqs[i].ex && walk.sequence % 3)
            poll_extended(walk.cqs[i].ex);
        else
            poll_plain(walk.cqs[i].cq);
    }
    qsort(lines, (size_t)used, sizeof *lines, compare);
    for (int i = 0; i < used; i++)
        fputs(lines[i].text, stdout);
}
