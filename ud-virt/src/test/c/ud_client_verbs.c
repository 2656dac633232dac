#define _GNU_SOURCE
#include "ud_client_verbs.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ud ud;

enum { SEND_ID = 0x5eed0000, MAX_SENDS = 256 };

void ud_die(const char *what)
{
    printf("failed %s: %s\n", what, strerror(errno));
    exit(1);
}

#define NEED(pointer) \
    do { \
        if (!(pointer)) \
            ud_die(#pointer); \
    } while (0)
#define OK(call) \
    do { \
        if ((errno = (call))) \
            ud_die(#call); \
    } while (0)

void ud_post_receive(unsigned slot)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)(ud.memory + slot * SLOT_BYTES), .length = SLOT_BYTES, .lkey = ud.mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 7000 + slot, .sg_list = &sge, .num_sge = 1}, *bad;
    OK(ibv_post_recv(ud.qp, &wr, &bad));
}

static void to_rts(void)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .sq_psn = 77};
    OK(ibv_modify_qp(ud.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    for (unsigned i = 0; i < SLOTS; i++)
        ud_post_receive(i);
    attr.qp_state = IBV_QPS_RTR;
    OK(ibv_modify_qp(ud.qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    OK(ibv_modify_qp(ud.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

void ud_open(void)
{
    size_t bytes = (SLOTS + 1) * SLOT_BYTES;
    struct ibv_device **list = ibv_get_device_list(NULL);
    NEED(list && list[0]);
    NEED(ud.context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    NEED(ud.pd = ibv_alloc_pd(ud.context));
    NEED(ud.channel = ibv_create_comp_channel(ud.context));
    NEED(ud.send_cq = ibv_create_cq(ud.context, MAX_SENDS, NULL, NULL, 0));
    NEED(ud.receive_cq = ibv_create_cq(ud.context, SLOTS, &ud, ud.channel, 0));
    NEED(ud.memory = aligned_alloc(4096, (bytes + 4095) & ~4095ul));
    NEED(ud.mr = ibv_reg_mr(ud.pd, ud.memory, bytes, IBV_ACCESS_LOCAL_WRITE));
    struct ibv_qp_init_attr init = {.send_cq = ud.send_cq,
                                    .recv_cq = ud.receive_cq,
                                    .qp_type = IBV_QPT_UD,
                                    .cap = {.max_send_wr = MAX_SENDS,
                                            .max_recv_wr = SLOTS,
                                            .max_send_sge = 2,
                                            .max_recv_sge = 1,
                                            .max_inline_data = 64}};
    NEED(ud.qp = ibv_create_qp(ud.pd, &init));
    to_rts();
}

static struct ibv_ah *address(unsigned lid, const union ibv_gid *grh)
{
    struct ibv_ah **ah = &ud.ahs[grh != NULL][lid];
    if (!*ah) {
        struct ibv_ah_attr attr = {.dlid = lid, .port_num = 1, .is_global = grh != NULL};
        if (grh)
            attr.grh.dgid = *grh;
        NEED(*ah = ibv_create_ah(ud.pd, &attr));
    }
    return *ah;
}

unsigned long ud_send(unsigned lid, unsigned qpn, const char *text, unsigned count, const union ibv_gid *grh)
{
    static struct ibv_send_wr wrs[MAX_SENDS], untouched[MAX_SENDS], *bad;
    char *buffer = ud.memory + SLOTS * SLOT_BYTES;
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = (uint32_t)strlen(text) + 1, .lkey = ud.mr->lkey};
    struct ibv_wc wc;
    memset(wrs, 0, sizeof wrs);
    strcpy(buffer, text);
    for (unsigned i = 0; i < count; i++) {
        wrs[i] = (struct ibv_send_wr){.wr_id = SEND_ID + i,
                                      .next = i + 1 < count ? &wrs[i + 1] : NULL,
                                      .sg_list = &sge,
                                      .num_sge = 1,
                                      .opcode = IBV_WR_SEND_WITH_IMM,
                                      .imm_data = htobe32(i),
                                      .send_flags = IBV_SEND_SOLICITED | (i + 1 == count ? IBV_SEND_SIGNALED : 0)};
        if (i % 2)
            wrs[i].send_flags |= IBV_SEND_INLINE;
        wrs[i].wr.ud.ah = address(lid, grh);
        wrs[i].wr.ud.remote_qpn = qpn;
        wrs[i].wr.ud.remote_qkey = QKEY;
    }
    memcpy(untouched, wrs, sizeof wrs);
    OK(ibv_post_send(ud.qp, wrs, &bad));
    if (memcmp(untouched, wrs, sizeof wrs)) {
        errno = EFAULT;
        ud_die("the work requests were written to");
    }
    int got;
    while (!(got = ibv_poll_cq(ud.send_cq, 1, &wc)))
        ;
    if (got < 0 || wc.status != IBV_WC_SUCCESS || wc.qp_num != ud.qp->qp_num) {
        errno = EIO;
        ud_die("send completion");
    }
    return wc.wr_id - SEND_ID;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int ud_receive(int milliseconds, struct ibv_wc *wc, char text[SLOT_BYTES], union ibv_gid *source)
{
    double end = now() + milliseconds;
    int got;
    while (!(got = ibv_poll_cq(ud.receive_cq, 1, wc)) && now() < end)
        ;
    if (got < 0)
        ud_die("ibv_poll_cq");
    if (!got)
        return 0;
    unsigned slot = (unsigned)(wc->wr_id - 7000);
    if (wc->status != IBV_WC_SUCCESS || slot >= SLOTS) {
        errno = EIO;
        ud_die("receive completion");
    }
    char *buffer = ud.memory + slot * SLOT_BYTES;
    memset(source, 0, sizeof *source);
    if (wc->wc_flags & IBV_WC_GRH)
        *source = ((struct ibv_grh *)buffer)->sgid;
    strcpy(text, buffer + GRH_BYTES);
    ud_post_receive(slot);
    return 1;
}
