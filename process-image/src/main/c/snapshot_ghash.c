/* GHASH (NIST SP 800-38D) with VPCLMULQDQ on registers of 512 bits: four carry-less products an instruction, and one reduction for 16
 * blocks. libcrypto's, which is in registers of 128 bits, takes a quarter of what it costs to write a block to memory.
 *
 * GCM's polynomials have their bits in the wrong order, from the highest bit of the first byte on. With the bytes turned around
 * a block is a number whose bits are in reverse; the product of two such is the reverse of the product, shifted by one bit, so one factor,
 * the power of the key, is kept multiplied by x, and no product needs to be shifted. Reduced is by
 * x^128 + x^127 + x^126 + x^121 + 1, the reverse of GCM's polynomial: from below, 64 bits at a time. */
#include "snapshot_tag.h"

#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx2,vpclmulqdq,pclmul")))
#define FOLD 0xc200000000000000ull /* x^127 + x^126 + x^121, without their 64 lower bits */

enum { BLOCK = 16, BLOCKS = 16 };

extern uint32_t OPENSSL_ia32cap_P[4];

int wide_hash_possible(void) {
    enum { AVX512F = 1 << 16, AVX512BW = 1 << 30, VPCLMULQDQ = 1 << 10, PCLMULQDQ = 1 << 1 };
    const uint32_t *found = OPENSSL_ia32cap_P; /* leaf 1: edx, ecx; leaf 7: ebx, ecx; without what the kernel does not keep */
    return (found[1] & PCLMULQDQ) && (found[2] & AVX512F) && (found[2] & AVX512BW) && (found[3] & VPCLMULQDQ);
}

WIDE static __m128i turned(__m128i block) { return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)); }

/* 256 bits, of which the middle ones are added to the upper half of low and the lower half of high. */
WIDE static __m128i reduce(__m128i low, __m128i middle, __m128i high) {
    const __m128i fold = _mm_set1_epi64x((long long)FOLD);
    middle = _mm_xor_si128(middle, _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e), _mm_clmulepi64_si128(low, fold, 0x00)));
    return _mm_xor_si128(high, _mm_xor_si128(_mm_shuffle_epi32(middle, 0x4e), _mm_clmulepi64_si128(middle, fold, 0x00)));
}

/* power: multiplied by x, and then so is the product. */
WIDE static __m128i multiply(__m128i block, __m128i power) {
    __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(block, power, 0x01), _mm_clmulepi64_si128(block, power, 0x10));
    return reduce(_mm_clmulepi64_si128(block, power, 0x00), middle, _mm_clmulepi64_si128(block, power, 0x11));
}

WIDE static __m128i times_x(__m128i block) {
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(block), high = (uint64_t)_mm_cvtsi128_si64(_mm_shuffle_epi32(block, 0x4e));
    uint64_t over = -(high >> 63);
    return _mm_set_epi64x((long long)((high << 1 | low >> 63) ^ (over & FOLD)), (long long)(low << 1 ^ (over & 1)));
}

WIDE void wide_hash_begin(struct wide_hash *hash, const unsigned char *key) {
    __m128i *powers = (__m128i *)hash->powers;
    __m128i first = times_x(turned(_mm_loadu_si128((const __m128i *)key)));
    powers[BLOCKS - 1] = first;
    for (int i = BLOCKS - 2; i >= 0; i--) {
        powers[i] = multiply(powers[i + 1], first);
    }
    *(__m128i *)hash->state = _mm_setzero_si128();
    hash->bytes = 0;
}

WIDE static __m128i folded(__m512i sum) {
    return _mm_xor_si128(_mm_xor_si128(_mm512_castsi512_si128(sum), _mm512_extracti32x4_epi32(sum, 1)),
                         _mm_xor_si128(_mm512_extracti32x4_epi32(sum, 2), _mm512_extracti32x4_epi32(sum, 3)));
}

WIDE void wide_hash_add(struct wide_hash *hash, const void *from, size_t length) {
    const __m512i turn = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i *powers = (const __m512i *)hash->powers;
    __m128i state = *(const __m128i *)hash->state;
    for (const char *at = from, *end = at + length; at < end; at += BLOCKS * BLOCK) {
        __m512i low = _mm512_setzero_si512(), middle = low, high = low, before = _mm512_zextsi128_si512(state);
#pragma GCC unroll 4
        for (int i = 0; i < BLOCKS / 4; i++) {
            __m512i blocks = _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_loadu_si512((const __m512i *)at + i), turn), before);
            before = _mm512_setzero_si512();
            low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128(blocks, powers[i], 0x00));
            middle = _mm512_ternarylogic_epi64(middle, _mm512_clmulepi64_epi128(blocks, powers[i], 0x01), _mm512_clmulepi64_epi128(blocks, powers[i], 0x10), 0x96);
            high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128(blocks, powers[i], 0x11));
        }
        state = reduce(folded(low), folded(middle), folded(high));
    }
    *(__m128i *)hash->state = state;
    hash->bytes += length;
}

WIDE void wide_hash_end(struct wide_hash *hash, unsigned char *result) {
    const __m128i *powers = (const __m128i *)hash->powers;
    __m128i length = _mm_set_epi64x((long long)(8 * hash->bytes), 0);
    __m128i all = multiply(_mm_xor_si128(*(const __m128i *)hash->state, length), powers[BLOCKS - 1]);
    _mm_storeu_si128((__m128i *)result, turned(all));
}
