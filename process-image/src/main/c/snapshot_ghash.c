/* GHASH (NIST SP 800-38D, 6.4) by carry-less products: one reduction for 16 blocks with VPCLMULQDQ, which makes four
 * products in a register of 512 bits, one for 8 with PCLMULQDQ. That of libcrypto 3.0 took a quarter of what it costs
 * to write a block to memory, and GCM in libcrypto 3.5 brings nearly all of libcrypto along. */
#include "snapshot_tag.h"

#include "common/ghash_product.h"

enum { BLOCK = 16, BLOCKS = 16, FEWER = 8 };

int ghash_width(void)
{
    return ghash_product_width();
}

NARROW void ghash_begin(struct ghash *hash, const unsigned char *key)
{
    __m128i *powers = (__m128i *)hash->powers;
    __m128i first = times_x(turned(_mm_loadu_si128((const __m128i *)key)));
    powers[BLOCKS - 1] = first;
    for (int i = BLOCKS - 2; i >= 0; i--) {
        powers[i] = multiply(powers[i + 1], first);
    }
    *(__m128i *)hash->state = _mm_setzero_si128();
    hash->bytes = 0;
}

NARROW static void add_narrow(struct ghash *hash, const char *at, const char *end)
{
    const __m128i *powers = (const __m128i *)hash->powers + BLOCKS - FEWER;
    __m128i state = *(const __m128i *)hash->state;
    for (; at < end; at += FEWER * BLOCK) {
        __m128i low = _mm_setzero_si128(), middle = low, high = low, before = state;
#pragma GCC unroll 8
        for (int i = 0; i < FEWER; i++) {
            __m128i block = _mm_xor_si128(turned(_mm_loadu_si128((const __m128i *)at + i)), before);
            before = _mm_setzero_si128();
            low = _mm_xor_si128(low, _mm_clmulepi64_si128(block, powers[i], 0x00));
            middle = _mm_xor_si128(middle, _mm_xor_si128(_mm_clmulepi64_si128(block, powers[i], 0x01),
                                                         _mm_clmulepi64_si128(block, powers[i], 0x10)));
            high = _mm_xor_si128(high, _mm_clmulepi64_si128(block, powers[i], 0x11));
        }
        state = reduce(low, middle, high);
    }
    *(__m128i *)hash->state = state;
}

WIDE static void add_wide(struct ghash *hash, const char *at, const char *end)
{
    const __m512i turn = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i *powers = (const __m512i *)hash->powers;
    __m128i state = *(const __m128i *)hash->state;
    for (; at < end; at += BLOCKS * BLOCK) {
        __m512i low = _mm512_setzero_si512(), middle = low, high = low, before = _mm512_zextsi128_si512(state);
#pragma GCC unroll 4
        for (int i = 0; i < BLOCKS / 4; i++) {
            __m512i blocks =
                _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_loadu_si512((const __m512i *)at + i), turn), before);
            before = _mm512_setzero_si512();
            low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128(blocks, powers[i], 0x00));
            middle = _mm512_ternarylogic_epi64(middle, _mm512_clmulepi64_epi128(blocks, powers[i], 0x01),
                                               _mm512_clmulepi64_epi128(blocks, powers[i], 0x10), 0x96);
            high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128(blocks, powers[i], 0x11));
        }
        state = reduce(folded(low), folded(middle), folded(high));
    }
    *(__m128i *)hash->state = state;
}

void ghash_add(struct ghash *hash, int width, const void *from, size_t length)
{
    (width == 512 ? add_wide : add_narrow)(hash, from, (const char *)from + length);
    hash->bytes += length;
}

NARROW void ghash_end(struct ghash *hash, unsigned char *result)
{
    const __m128i *powers = (const __m128i *)hash->powers;
    __m128i length = _mm_set_epi64x((long long)(8 * hash->bytes), 0);
    __m128i all = multiply(_mm_xor_si128(*(const __m128i *)hash->state, length), powers[BLOCKS - 1]);
    _mm_storeu_si128((__m128i *)result, turned(all));
}
