/* On the fused path: the device's outstanding receives are taken out of its memory before that is freed,
 * and posted to the device of the next incarnation. */
#include "data-path/fused_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept_receives {
    uint32_t count;
    struct ibv_recv_wr *wrs;
    struct ibv_sge *sges;
};

static void drop(struct kept_receives **place)
{
    struct kept_receives *kept = *place;
    if (!kept)
        return;
    free(kept->wrs);
    free(kept->sges);
    free(kept);
    *place = NULL;
}

/* The elements move with the requests: those that the device named go with it. */
static int copy_elements(struct kept_receives *kept)
{
    size_t total = 0, at = 0;
    for (uint32_t i = 0; i < kept->count; i++)
        total += kept->wrs[i].num_sge;
    kept->sges = calloc(total + 1, sizeof *kept->sges);
    if (!kept->sges)
        return -1;
    for (uint32_t i = 0; i < kept->count; i++) {
        struct ibv_recv_wr *wr = &kept->wrs[i];
        memcpy(&kept->sges[at], wr->sg_list, wr->num_sge * sizeof *wr->sg_list);
        wr->sg_list = &kept->sges[at];
        wr->next = i + 1 < kept->count ? wr + 1 : NULL;
        at += wr->num_sge;
    }
    return 0;
}

static uint32_t outstanding(const struct receiver *from, struct ibv_recv_wr *wrs, uint32_t max)
{
    const struct fused_path *fused = virtual_fused_path();
    return from->srq ? fused->outstanding_shared(from->srq, wrs, max) : fused->outstanding(from->qp, wrs, max);
}

int virtual_keep_receives(struct kept_receives **place, const struct receiver *from)
{
    drop(place);
    struct kept_receives *kept = *place = calloc(1, sizeof *kept);
    if (!kept)
        return -1;
    kept->count = outstanding(from, NULL, 0);
    kept->wrs = calloc(kept->count + 1, sizeof *kept->wrs);
    if (kept->wrs)
        outstanding(from, kept->wrs, kept->count);
    if (kept->wrs && !copy_elements(kept))
        return 0;
    drop(place);
    return -1;
}

int virtual_repost_kept(struct kept_receives **place, const struct receiver *to)
{
    struct kept_receives *kept = *place;
    struct ibv_recv_wr *bad;
    errno = !kept->count ? 0
            : to->srq    ? lower_device->post_srq_recv(to->srq, kept->wrs, &bad)
                         : lower_device->post_recv(to->qp, kept->wrs, &bad);
    if (errno)
        return -1;
    drop(place);
    return 0;
}
