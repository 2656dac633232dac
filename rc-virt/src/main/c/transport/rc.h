/* Reliable connections of the virtual device: what a queue pair has beyond a datagram one (docs/internals/rc.md). */
#pragma once
#include "rc_checkpoint.h"
#include "virtual.h"
#include "memory/keys_file.h"
#include "queue-pair/transport.h"

struct v_rc {
    struct ibv_qp_attr attributes; /* as the job set them: peer and address are virtual ones */
    int to_init, to_rtr, to_rts;   /* masks of the transitions, 0 before each */
    uint32_t max_inline;
    const struct peer_keys *keys; /* of the peer's process; NULL: they are the device's own */
    void *memory; /* of the old incarnation's device, while a new one is made; and which device that was */
    const struct verbs_device *remembered;
    int unfinished;       /* rebuilt: what had not completed is to be posted again */
    struct rc_kept *kept; /* on the fused path, while an incarnation is rebuilt */
};

/* rc_peer.c: whose remote keys its requests name; NULL: they are the device's own. */
void rc_set_keys(struct v_qp *qp, const struct peer_keys *keys);

extern const struct transport_ops rc_transport; /* rc_qp.c */

/* The operations of that table, where they are not static in rc_qp.c. */
void rc_untranslate_requests(struct v_qp *qp); /* rc_send.c: the records' local keys are the job's again */
int rc_remember(struct v_qp *qp);              /* rc_rebuild.c */
int rc_rebuild_state(struct v_qp *qp);
void rc_replay(void);
int rc_keep_sends(struct v_qp *qp); /* rc_keep.c */
void rc_park(void);                 /* rc_settle.c */
void rc_resume(void);

/* rc_peer.c: where the virtual peer is now; fills in dest_qp_num and ah_attr. 0 or an errno. */
int rc_find_peer(struct v_qp *qp, struct ibv_qp_attr *real);

/* rc_send.c. The gate has been passed, and is left here; the first two are short for usual requests
 * (generic_path.h). */
int rc_post_plain(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_translated(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_list(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_again(struct v_qp *qp); /* in a new incarnation; 0, or -1 with errno */
unsigned rc_outstanding(const struct v_qp *qp);
/* The device's completion queue has room for the completions that the job did not ask for, too. 0 or an errno. */
int rc_reserve_completions(struct v_cq *cq, int change);

int rc_post_kept(struct v_qp *qp); /* rc_keep.c: on the fused path; 0, or -1 with errno */

/* rc_window.c: memory windows on the generic path: posting, and binding again when an incarnation's connections are
 * made. 0, or an errno. */
int rc_record_local(struct v_qp *qp, struct request_work *request, const struct ibv_send_wr *wr);
int rc_submit_window(struct v_qp *qp, struct request_work *request, struct ibv_send_wr *copy);
struct v_mw *rc_bind_windows(struct v_context *context); /* NULL, or the one that cannot be, with errno */
