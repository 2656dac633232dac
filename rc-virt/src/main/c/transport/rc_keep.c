/* On the fused path: sends that had not completed are taken out of its memory before that is freed. */
#include "rc.h"
#include "data-path/fused_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct rc_kept {
    uint32_t count;
    struct ibv_send_wr *wrs;
    struct ibv_sge *sges;
    char *data; /* of inline requests */
};

static void drop(struct v_rc *rc)
{
    if (!rc->kept)
        return;
    free(rc->kept->wrs);
    free(rc->kept->sges);
    free(rc->kept->data);
    free(rc->kept);
    rc->kept = NULL;
}

static size_t inline_bytes(const struct ibv_send_wr *wr)
{
    /* the device has them in one piece */
    return wr->send_flags & IBV_SEND_INLINE && wr->num_sge ? wr->sg_list->length : 0;
}

static int copy_memory(struct rc_kept *kept)
{
    size_t elements = 0, bytes = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        elements += (size_t)kept->wrs[i].num_sge;
        bytes += inline_bytes(&kept->wrs[i]);
    }
    struct ibv_sge *sge = kept->sges = calloc(elements + 1, sizeof *kept->sges);
    char *data = kept->data = malloc(bytes + 1);
    if (!sge || !data)
        return -1;
    for (uint32_t i = 0; i < kept->count; i++) {
        struct ibv_send_wr *wr = &kept->wrs[i];
        size_t length = inline_bytes(wr);
        memcpy(sge, wr->sg_list, (size_t)wr->num_sge * sizeof *sge);
        if (length) {
            memcpy(data, (void *)(uintptr_t)sge->addr, length);
            sge->addr = (uintptr_t)data;
            data += length;
        }
        wr->sg_list = sge;
        sge += wr->num_sge;
        wr->next = i + 1 < kept->count ? wr + 1 : NULL;
    }
    return 0;
}

int rc_keep_sends(struct v_qp *qp)
{
    drop(qp->rc);
    struct rc_kept *kept = qp->rc->kept = calloc(1, sizeof *kept);
    if (!kept)
        return -1;
    kept->count = virtual_fused_path()->outstanding_sends(qp->real, NULL, 0);
    kept->wrs = calloc(kept->count + 1, sizeof *kept->wrs);
    if (kept->wrs)
        virtual_fused_path()->outstanding_sends(qp->real, kept->wrs, kept->count);
    if (kept->wrs && !copy_memory(kept))
        return 0;
    drop(qp->rc);
    return -1;
}

int rc_post_kept(struct v_qp *qp)
{
    struct ibv_send_wr *bad;
    if (!qp->rc->kept)
        return 0;
    errno = qp->rc->kept->count ? lower_device->post_send(qp->real, qp->rc->kept->wrs, &bad) : 0;
    if (errno)
        return -1;
    drop(qp->rc);
    return 0;
}
