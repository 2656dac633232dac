/* From the real source of a datagram back to what the job calls it: the hit side. */
#pragma once
#include "address_table.h"
#include "virtual.h"
#include <string.h>

/* Never changed after it is published, but for `next` when a neighbour is unlinked; those of an earlier epoch are
 * freed when a restart has closed the gate. */
struct source {
    uint64_t key, epoch; /* key: of the real address */
    uint64_t plain_qpn; /* the same, where a completion says no more: the QPN, and above it the flags, none */
    uint32_t plain_lid; /* no such LID when the source is unknown */
    uint64_t wire;       /* the key as the device reads it off a datagram; no such value when the source is unknown */
    uint32_t virtual_qpn;
    uint16_t pkey_index, virtual_lid; /* neighbours as in a completion: the index is 0 */
    int known; /* an endpoint of the job; else the source stays as it is */
    _Alignas(union ibv_gid) uint8_t gid[16];
    struct source *next; /* in the same slot; read without a lock, and kept by an unlinked one for its readers */
    struct source *replaced;
};
extern struct source *virtual_sources[SOURCES] __attribute__((visibility("hidden"))); /* never NULL */

__attribute__((cold)) const struct source *virtual_find_source(uint64_t key, uint64_t epoch);
__attribute__((cold)) void virtual_rewrite_grh(const struct ibv_sge *sges, uint32_t count, const struct source *source, const struct v_port *to,
                                               uint32_t bytes);
/* RoCE: the number of the sender's host in the place of its LID. */
uint16_t virtual_source_number(const struct ibv_sge *sges, uint32_t pieces);

_Static_assert(offsetof(struct source, virtual_lid) - offsetof(struct source, pkey_index) ==
                   offsetof(struct ibv_wc, slid) - offsetof(struct ibv_wc, pkey_index), "copied as one");

static inline uint64_t source_slot(uint64_t key)
{
    return (key ^ key >> 24) % SOURCES;
}

/* The endpoint of the job that a completion without a GRH (and without immediate data) names, if it is the one that was asked
 * for last; else NULL. */
static inline const struct source *plain_source(const struct ibv_wc *wc, uint64_t epoch)
{
    uint64_t qpn_and_flags;
    uint8_t slot = (uint8_t)wc->src_qp;
    slot ^= (uint8_t)wc->slid;
    _Static_assert(SOURCES == 256, "the slot is a byte");
    _Static_assert(offsetof(struct ibv_wc, wc_flags) == offsetof(struct ibv_wc, src_qp) + 4, "compared as one");
    memcpy(&qpn_and_flags, &wc->src_qp, sizeof qpn_and_flags);
    const struct source *source = __atomic_load_n(&virtual_sources[slot], __ATOMIC_ACQUIRE);
    return LIKELY(source->plain_qpn == qpn_and_flags && source->plain_lid == wc->slid && source->epoch == epoch) ? source : NULL;
}

/* Returns 1 when the source is an endpoint of the job. */
static inline int translate_source(struct ibv_wc *wc, const struct receive_work *receive, const struct v_port *to, uint64_t epoch)
{
    const struct ibv_sge *sges = receive->sges;
    uint32_t pieces = (uint32_t)receive->posted.num_sge;
    if (UNLIKELY(virtual_real.ethernet))
        wc->slid = virtual_source_number(sges, pieces);
    uint64_t key = (uint64_t)wc->slid << 24 | wc->src_qp;
    const struct source *source = __atomic_load_n(&virtual_sources[source_slot(key)], __ATOMIC_ACQUIRE);
    if (UNLIKELY(source->key != key || source->epoch != epoch)) {
        source = virtual_find_source(key, epoch);
        if (!source) {
            wc->slid = virtual_identity.ethernet ? 0 : wc->slid;
            return 0;
        }
    }
    wc->src_qp = source->virtual_qpn;
    wc->slid = UNLIKELY(virtual_identity.ethernet) ? 0 : source->virtual_lid;
    if (UNLIKELY(wc->wc_flags & IBV_WC_GRH))
        virtual_rewrite_grh(sges, pieces, source, to, wc->byte_len);
    return source->known;
}
