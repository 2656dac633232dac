/* Up to 64 blocks are one sum of products, with one reduction: each by the power of the key that its place asks for. A
 * datagram of 4 KiB takes five. */
#include "soft_ghash.h"
#include "common/ghash_product.h"
#include <string.h>

enum { BLOCK = 16, POWERS = SOFT_MAC_POWERS };

int soft_ghash_width(void)
{
    return ghash_product_width();
}

NARROW static __m128i load(const uint8_t *at, size_t index)
{
    return _mm_loadu_si128((const __m128i *)at + index);
}

NARROW void soft_ghash_prepare(struct soft_mac_key *key)
{
    __m128i *powers = (__m128i *)key->powers, first = times_x(turned(load(key->hash_key, 0))), now = first;
    for (int i = POWERS - 1; i >= 0; i--) {
        _mm_storeu_si128(powers + i, now);
        now = multiply(now, first);
    }
}

NARROW void soft_ghash_turn(uint8_t state[BLOCK])
{
    _mm_storeu_si128((__m128i *)state, turned(load(state, 0)));
}

/* Not reduced yet. */
struct sum {
    __m128i low, middle, high;
};

/* Up to POWERS blocks, of which the last one's power is the first. */
NARROW static inline struct sum add_up(const uint8_t *powers, __m128i state, const uint8_t *at, size_t blocks)
{
    struct sum sum = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    for (size_t i = 0; i < blocks; i++) {
        __m128i power = load(powers, POWERS - blocks + i), block = _mm_xor_si128(turned(load(at, i)), state);
        state = _mm_setzero_si128();
        sum.low = _mm_xor_si128(sum.low, _mm_clmulepi64_si128(block, power, 0x00));
        sum.middle = _mm_xor_si128(sum.middle, _mm_xor_si128(_mm_clmulepi64_si128(block, power, 0x01),
                                                             _mm_clmulepi64_si128(block, power, 0x10)));
        sum.high = _mm_xor_si128(sum.high, _mm_clmulepi64_si128(block, power, 0x11));
    }
    return sum;
}

NARROW void soft_ghash_narrow(const struct soft_mac_key *key, uint8_t state[BLOCK], const uint8_t *at, size_t blocks)
{
    __m128i now = load(state, 0);
    while (blocks) {
        size_t n = blocks < POWERS ? blocks : POWERS;
        struct sum sum = add_up(key->powers, now, at, n);
        now = reduce(sum.low, sum.middle, sum.high);
        at += n * BLOCK;
        blocks -= n;
    }
    _mm_storeu_si128((__m128i *)state, now);
}

/* Four blocks a product; the last one to three one by one. */
WIDE void soft_ghash_wide(const struct soft_mac_key *key, uint8_t state[BLOCK], const uint8_t *at, size_t blocks)
{
    const __m512i turn = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m128i now = load(state, 0);
    while (blocks) {
        size_t n = blocks < POWERS ? blocks : POWERS, fours = n / 4;
        const uint8_t *powers = key->powers + (POWERS - n) * BLOCK;
        __m512i low = _mm512_setzero_si512(), middle = low, high = low, before = _mm512_zextsi128_si512(now);
#pragma GCC unroll 4
        for (size_t i = 0; i < fours; i++) {
            __m512i power = _mm512_loadu_si512((const __m512i *)powers + i);
            __m512i four =
                _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_loadu_si512((const __m512i *)at + i), turn), before);
            before = _mm512_setzero_si512();
            low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128(four, power, 0x00));
            middle = _mm512_ternarylogic_epi64(middle, _mm512_clmulepi64_epi128(four, power, 0x01),
                                               _mm512_clmulepi64_epi128(four, power, 0x10), 0x96);
            high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128(four, power, 0x11));
        }
        struct sum sum = add_up(key->powers, fours ? _mm_setzero_si128() : now, at + fours * 4 * BLOCK, n % 4);
        now = reduce(_mm_xor_si128(sum.low, folded(low)), _mm_xor_si128(sum.middle, folded(middle)),
                     _mm_xor_si128(sum.high, folded(high)));
        at += n * BLOCK;
        blocks -= n;
    }
    _mm_storeu_si128((__m128i *)state, now);
}

/* Bit by bit (NIST SP 800-38D, 6.3), in a time that does not depend on the key. */
void soft_ghash_plain(const struct soft_mac_key *key, uint8_t state[BLOCK], const uint8_t *at, size_t blocks)
{
    uint64_t factor[2], now[2], block[2];
    memcpy(factor, key->hash_key, sizeof factor);
    memcpy(now, state, sizeof now);
    for (; blocks; blocks--, at += BLOCK) {
        memcpy(block, at, sizeof block);
        uint64_t x[2] = {__builtin_bswap64(now[0] ^ block[0]), __builtin_bswap64(now[1] ^ block[1])};
        uint64_t v[2] = {__builtin_bswap64(factor[0]), __builtin_bswap64(factor[1])}, z[2] = {0, 0};
        for (int bit = 0; bit < 128; bit++) {
            uint64_t take = -(x[bit / 64] >> (63 - bit % 64) & 1), over = -(v[1] & 1);
            z[0] ^= v[0] & take;
            z[1] ^= v[1] & take;
            v[1] = v[1] >> 1 | v[0] << 63;
            v[0] = v[0] >> 1 ^ (over & 0xe100000000000000ull);
        }
        now[0] = __builtin_bswap64(z[0]);
        now[1] = __builtin_bswap64(z[1]);
    }
    memcpy(state, now, sizeof now);
}
