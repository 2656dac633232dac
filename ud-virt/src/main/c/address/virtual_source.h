/* From the real source of a datagram back to what the job calls it: the hit side. */
#pragma once
#include "address_table.h"
#include "virtual.h"
#include <string.h>

/* Never changed after it is published, but for `next` when a neighbour is unlinked; those of an earlier epoch are
 * freed when a restart has closed the gate. */
struct source {
    uint64_t key, epoch; /* key: of the real address */
    /* plain_sum() of a completion that says no more; no such sum when there is something else to do */
    uint64_t plain;
    uint64_t wire; /* the key as the device reads it off a datagram; no such value when the source is unknown */
    uint32_t virtual_qpn;
    uint16_t pkey_index, virtual_lid; /* neighbours as in a completion: the index is 0 */
    int known;                        /* an endpoint of the job; else the source stays as it is */
    /* it is none, and the agent is there: nothing is taken from it by a device that can refuse it (the soft fabric) */
    int stranger;
    _Alignas(union ibv_gid) uint8_t gid[16];
    struct source *next; /* in the same slot; read without a lock, and kept by an unlinked one for its readers */
    struct source *replaced;
};
extern struct source *virtual_sources[SOURCES] __attribute__((visibility("hidden"))); /* never NULL */

/* NULL: it is a stranger, as *stranger says, or there is no memory to remember it. */
__attribute__((cold)) const struct source *virtual_find_source(uint64_t key, uint64_t epoch, int *stranger);
__attribute__((cold)) void virtual_rewrite_grh(const struct ibv_sge *sges, uint32_t count, const struct source *source,
                                               const struct v_port *to, uint32_t bytes);
/* RoCE: the number of the sender's host in the place of its LID. */
uint16_t virtual_source_number(const struct ibv_sge *sges, uint32_t pieces);

_Static_assert(offsetof(struct source, virtual_lid) - offsetof(struct source, pkey_index) ==
                   offsetof(struct ibv_wc, slid) - offsetof(struct ibv_wc, pkey_index),
               "copied as one");

static inline uint64_t source_slot(uint64_t key)
{
    return (key ^ key >> 24) % SOURCES;
}

/* Of the source's QPN and LID, in a completion without any flag, at key 0. With a flag F it would need the partition
 * key of index 65,536 - F to be the sum of another source, and no device has a table of that length. x86 is
 * little-endian. */
static inline uint64_t plain_sum(const struct ibv_wc *wc)
{
    uint64_t qpn_and_flags, flags_and_lid;
    _Static_assert(offsetof(struct ibv_wc, wc_flags) == offsetof(struct ibv_wc, src_qp) + 4, "read as one");
    _Static_assert(offsetof(struct ibv_wc, slid) == offsetof(struct ibv_wc, wc_flags) + 6, "read as one");
    memcpy(&qpn_and_flags, &wc->src_qp, sizeof qpn_and_flags);
    memcpy(&flags_and_lid, &wc->wc_flags, sizeof flags_and_lid);
    return qpn_and_flags + flags_and_lid;
}

/* The endpoint of the job that a completion without a GRH (and without immediate data) names, if it is the one that
 * was asked for last; else NULL. Of an earlier epoch it may be another one's by now, but not in a first incarnation. */
static inline const struct source *plain_source(const struct ibv_wc *wc)
{
    uint64_t slot = (uint8_t)wc->src_qp; /* source_slot() of the key */
    _Static_assert(SOURCES == 256, "the slot is a byte");
    __asm__("xorb %b1, %b0" : "+q"(slot) : "m"(wc->slid) : "cc"); /* the compiler would widen it once more */
    const struct source *source = __atomic_load_n(&virtual_sources[slot], __ATOMIC_ACQUIRE);
    return LIKELY(source->plain == plain_sum(wc)) ? source : NULL;
}

/* Returns 1 when the source is an endpoint of the job. */
static inline int translate_source(struct ibv_wc *wc, const struct ibv_sge *sges, uint32_t pieces,
                                   const struct v_port *to, uint64_t epoch)
{
    if (UNLIKELY(virtual_real.ethernet))
        wc->slid = virtual_source_number(sges, pieces);
    uint64_t key = (uint64_t)wc->slid << 24 | wc->src_qp;
    const struct source *source = __atomic_load_n(&virtual_sources[source_slot(key)], __ATOMIC_ACQUIRE);
    if (UNLIKELY(source->key != key || source->epoch != epoch)) {
        int stranger;
        source = virtual_find_source(key, epoch, &stranger);
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
