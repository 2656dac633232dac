/* AES-128-GMAC (NIST SP 800-38D) over pieces of memory: the tags of datagrams between hosts. All hosts of a job use
 * it, whatever their processors can: with AES-NI, and PCLMULQDQ in registers of 128 or 512 bits, it takes well under a
 * microsecond for 4 KiB; without them much longer. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { SOFT_MAC_KEY = 16, SOFT_MAC_NONCE = 12, SOFT_MAC_BYTES = 16, SOFT_MAC_POWERS = 64 };

/* State that is derived from a key once. Plain memory, at any address; made anew in each incarnation, which may be on
 * another processor. */
struct soft_mac_key {
    uint8_t rounds[11 * 16];              /* AES's round keys */
    uint8_t powers[SOFT_MAC_POWERS * 16]; /* of the hash key, the 64th first (soft_ghash.h) */
    uint8_t hash_key[16];
    int width; /* soft_ghash_width() */
    int has_aes;
};

void soft_mac_prepare(struct soft_mac_key *made, const uint8_t key[SOFT_MAC_KEY]);
/* As on another processor: width 0, 128 or 512, not above that of this one. For tests. */
void soft_mac_prepare_as(struct soft_mac_key *made, const uint8_t key[SOFT_MAC_KEY], int width, int has_aes);
/* Computes the MAC of the first `length` bytes of these pieces together. */
void soft_mac(const struct soft_mac_key *key, const uint8_t nonce[SOFT_MAC_NONCE], const struct iovec *pieces,
              size_t length, uint8_t mac[SOFT_MAC_BYTES]);
/* 1 when they are the same; takes the same time wherever they differ. */
static inline int soft_mac_equals(const uint8_t one[SOFT_MAC_BYTES], const uint8_t other[SOFT_MAC_BYTES])
{
    uint64_t a[2], b[2];
    __builtin_memcpy(a, one, sizeof a);
    __builtin_memcpy(b, other, sizeof b);
    return !((a[0] ^ b[0]) | (a[1] ^ b[1]));
}
