#include "soft_mac.h"
#include "soft_ghash.h"
#include <cpuid.h>
#include <endian.h>
#include <immintrin.h>
#include <string.h>
#define OPENSSL_SUPPRESS_DEPRECATED /* of the plain functions of one cipher, which need no locks */
#include <openssl/aes.h>

#define AES __attribute__((target("aes")))

enum { ROUNDS = 10, BLOCK = 16 };

static int has_aes(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_AES;
}

/* FIPS 197, 5.2: `assist` is AESKEYGENASSIST of the last round's key. */
AES static __m128i next_round(__m128i key, __m128i assist)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
    return _mm_xor_si128(key, _mm_shuffle_epi32(assist, 0xff));
}

AES static void expand(uint8_t rounds[(ROUNDS + 1) * BLOCK], const uint8_t *key)
{
    __m128i *round = (__m128i *)rounds, now = _mm_loadu_si128((const __m128i *)key);
    _mm_storeu_si128(round++, now);
#define ROUND(constant) _mm_storeu_si128(round++, now = next_round(now, _mm_aeskeygenassist_si128(now, constant)))
    ROUND(0x01), ROUND(0x02), ROUND(0x04), ROUND(0x08), ROUND(0x10), ROUND(0x20), ROUND(0x40), ROUND(0x80), ROUND(0x1b),
        ROUND(0x36);
#undef ROUND
}

AES static void encrypt(const struct soft_mac_key *key, const uint8_t from[BLOCK], uint8_t to[BLOCK])
{
    const __m128i *round = (const __m128i *)key->rounds;
    __m128i block = _mm_xor_si128(_mm_loadu_si128((const __m128i *)from), _mm_loadu_si128(round));
#pragma GCC unroll 9
    for (int i = 1; i < ROUNDS; i++)
        block = _mm_aesenc_si128(block, _mm_loadu_si128(round + i));
    _mm_storeu_si128((__m128i *)to, _mm_aesenclast_si128(block, _mm_loadu_si128(round + ROUNDS)));
}

/* Without AES-NI: the key itself is kept, and expanded each time. */
static void encrypt_plain(const struct soft_mac_key *key, const uint8_t from[BLOCK], uint8_t to[BLOCK])
{
    AES_KEY expanded;
    AES_set_encrypt_key(key->rounds, 8 * SOFT_MAC_KEY, &expanded);
    AES_encrypt(from, to, &expanded);
}

static void encrypt_any(const struct soft_mac_key *key, const uint8_t from[BLOCK], uint8_t to[BLOCK])
{
    if (key->has_aes)
        encrypt(key, from, to);
    else
        encrypt_plain(key, from, to);
}

void soft_mac_prepare_as(struct soft_mac_key *made, const uint8_t key[SOFT_MAC_KEY], int width, int aes)
{
    const uint8_t zeros[BLOCK] = {0};
    memset(made, 0, sizeof *made);
    made->width = width;
    made->has_aes = aes;
    if (aes)
        expand(made->rounds, key);
    else
        memcpy(made->rounds, key, SOFT_MAC_KEY);
    encrypt_any(made, zeros, made->hash_key);
    if (width)
        soft_ghash_prepare(made);
}

void soft_mac_prepare(struct soft_mac_key *made, const uint8_t key[SOFT_MAC_KEY])
{
    soft_mac_prepare_as(made, key, soft_ghash_width(), has_aes());
}

static inline void hash(const struct soft_mac_key *key, uint8_t state[BLOCK], const uint8_t *at, size_t blocks)
{
    if (key->width == 512)
        soft_ghash_wide(key, state, at, blocks);
    else if (key->width)
        soft_ghash_narrow(key, state, at, blocks);
    else
        soft_ghash_plain(key, state, at, blocks);
}

/* What does not fill a block waits in `rest` for the next piece. */
static size_t add(const struct soft_mac_key *key, uint8_t state[BLOCK], uint8_t rest[BLOCK], size_t waiting,
                  const uint8_t *at, size_t length)
{
    if (waiting) {
        size_t n = BLOCK - waiting < length ? BLOCK - waiting : length;
        memcpy(rest + waiting, at, n);
        at += n;
        length -= n;
        waiting += n;
        if (waiting < BLOCK)
            return waiting;
        hash(key, state, rest, 1);
    }
    if (length >= BLOCK)
        hash(key, state, at, length / BLOCK);
    memcpy(rest, at + (length & ~(size_t)(BLOCK - 1)), length % BLOCK);
    return length % BLOCK;
}

void soft_mac(const struct soft_mac_key *key, const uint8_t nonce[SOFT_MAC_NONCE], const struct iovec *pieces,
              size_t length, uint8_t mac[SOFT_MAC_BYTES])
{
    _Alignas(BLOCK) uint8_t state[BLOCK] = {0}, rest[2 * BLOCK], counter[BLOCK], mask[BLOCK];
    uint64_t bits[2] = {htobe64(8 * (uint64_t)length), 0};
    size_t waiting = 0;
    memcpy(counter, nonce, SOFT_MAC_NONCE);
    memcpy(counter + SOFT_MAC_NONCE, "\0\0\0\1", 4);
    encrypt_any(key, counter, mask);
    for (; length; pieces++) {
        size_t n = pieces->iov_len < length ? pieces->iov_len : length;
        waiting = add(key, state, rest, waiting, pieces->iov_base, n);
        length -= n;
    }
    /* The last bytes, filled up with zeros, and how many there were in all. */
    size_t last = waiting ? BLOCK : 0;
    memset(rest + waiting, 0, last - waiting);
    memcpy(rest + last, bits, sizeof bits);
    hash(key, state, rest, last ? 2 : 1);
    if (key->width)
        soft_ghash_turn(state);
    for (int i = 0; i < SOFT_MAC_BYTES; i++)
        mac[i] = state[i] ^ mask[i];
}
