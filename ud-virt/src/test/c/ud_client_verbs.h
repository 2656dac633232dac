/* One UD queue pair with a completion channel, as an ordinary verbs program has it. */
#pragma once
#include <infiniband/verbs.h>

enum { SLOTS = 64, SLOT_BYTES = 512, GRH_BYTES = 40, QKEY = 0x1234 };

struct ud {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_mr *mr;
    struct ibv_qp *qp;
    char *memory;                 /* SLOTS receive slots, then one for sends */
    struct ibv_ah *ahs[2][65536]; /* without and with GRH */
};

extern struct ud ud;

void ud_die(const char *what);
void ud_open(void);
void ud_post_receive(unsigned slot);
/* Sends `count` copies as one list, of which only the last is signaled, and waits for its completion; grh:
 * the destination's GID or NULL. Returns the completion's wr_id. */
unsigned long ud_send(unsigned lid, unsigned qpn, const char *text, unsigned count, const union ibv_gid *grh);
/* Waits up to this long for one datagram and posts its slot again. Returns 0 when none came. */
int ud_receive(int milliseconds, struct ibv_wc *wc, char text[SLOT_BYTES], union ibv_gid *source);
