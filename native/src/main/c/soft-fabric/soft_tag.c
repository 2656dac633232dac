#include "soft_tag.h"
#include "soft_refuse.h"
#include "soft_replay.h"
#include <endian.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 1 + SOFT_MAX_SGE };

static const struct soft_mac_key *key_of(const struct soft_qp *qp)
{
    return &soft_context_of(qp->base.context)->config.key;
}

void soft_tag_begin(struct soft_qp *qp)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&qp->sent, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    qp->unusual |= soft_context_of(qp->base.context)->config.tagged;
}

void soft_tag_free(struct soft_qp *qp)
{
    soft_replay_free(qp->replay);
    qp->replay = NULL;
}

static inline void make_nonce(uint8_t nonce[SOFT_MAC_NONCE], uint16_t lid, uint32_t qpn, __be64 counter)
{
    uint16_t number = htobe16((uint16_t)qpn);
    lid = htobe16(lid);
    memcpy(nonce, &lid, sizeof lid);
    memcpy(nonce + 2, &number, sizeof number);
    memcpy(nonce + 4, &counter, sizeof counter);
}

void soft_tag_sign(struct soft_qp *qp, struct soft_tag *tag, const struct iovec *pieces, size_t count)
{
    uint8_t nonce[SOFT_MAC_NONCE];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += pieces[i].iov_len;
    tag->counter = htobe64(atomic_fetch_add_explicit(&qp->sent, 1, memory_order_relaxed) + 1);
    make_nonce(nonce, qp->lid, qp->base.qp_num, tag->counter);
    soft_mac(key_of(qp), nonce, pieces, length, tag->mac);
}

static bool is_right(struct soft_qp *qp, uint16_t lid, uint32_t qpn, const struct soft_tag *tag,
                     const struct iovec *pieces, size_t length)
{
    uint8_t nonce[SOFT_MAC_NONCE], mac[SOFT_MAC_BYTES];
    make_nonce(nonce, lid, qpn, tag->counter);
    soft_mac(key_of(qp), nonce, pieces, length, mac);
    if (unlikely(!soft_mac_equals(mac, tag->mac)))
        soft_refused(qp, SOFT_WRONG_TAG, lid, qpn);
    else if (unlikely(!soft_replay_is_new(&qp->replay, (uint64_t)lid << 32 | qpn, be64toh(tag->counter))))
        soft_refused(qp, SOFT_REPLAYED, lid, qpn);
    else
        return true;
    return false;
}

bool soft_tag_is_right(struct soft_qp *qp, const struct soft_head *head, const struct msghdr *message, uint32_t payload)
{
    struct iovec pieces[LONGEST];
    if (unlikely(message->msg_flags & MSG_TRUNC)) { /* no tag says anything of a part */
        soft_refused(qp, SOFT_WRONG_TAG, ntohs(head->wire.source_lid), ntohl(head->wire.source_qpn));
        return false;
    }
    pieces[0] = (struct iovec){(void *)&head->wire, sizeof head->wire};
    for (size_t i = 1; i < message->msg_iovlen; i++)
        pieces[i] = message->msg_iov[i];
    return is_right(qp, ntohs(head->wire.source_lid), ntohl(head->wire.source_qpn), &head->tag, pieces,
                    sizeof head->wire + payload);
}

bool soft_tag_is_right_packet(struct soft_qp *qp, const struct soft_rc_wire *header, const struct soft_tag *tag,
                              const char *payload, uint32_t length)
{
    struct iovec pieces[2] = {{(void *)header, sizeof *header}, {(void *)payload, length}};
    return is_right(qp, ntohs(header->source_lid), ntohl(header->source_qpn), tag, pieces, sizeof *header + length);
}
