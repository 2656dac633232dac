/* GHASH (NIST SP 800-38D, 6.4) by carry-less products: one reduction for 16 blocks with VPCLMULQDQ, which makes four products in a register of 512 bits,
 * one for 8 with PCLMULQDQ. That of libcrypto 3.0 took a quarter of what it costs to write a block to memory, and GCM in libcrypto 3.5 brings nearly all of
 * libcrypto along.
 *
 * GCM's polynomials have their bits in the wrong order, from the highest bit of the first byte on. With the bytes turned around
 * a block is a number whose bits are in reverse; the product of two such is the reverse of the product, shifted by one bit, so one factor,
 * the power of the key, is kept multiplied by x, and no product needs to be shifted. Reduced is by
 * x^128 + x^127 + x^126 + x^121 + 1, the reverse of GCM's polynomial: from below, 64 bits at a time. */
#include "snapshot_tag.h"

#include <cpuid.h>
#include <immintrin.h>

#define NARROW __attribute__((target("pclmul,ssse3")))
#define WIDE __attribute__((target("avx512f,avx512bw,avx2,vpclmulqdq,pclmul,ssse3")))
#define FOLD 0xc200000000000000ull /* x^127 + x^126 + x^121, without their 64 lower bits */

enum { BLOCK = 16, BLOCKS = 16, FEWER = 8 };

int ghash_width(void) {
    enum { ZMM = 0xe6 /* XCR0: the kernel keeps the registers of 512 bits */, VPCLMULQDQ = 1 << 10, XMM = bit_PCLMUL | bit_SSSE3, EVEX = bit_AVX512F | bit_AVX512BW };
    unsigned a, b, c, d, b7, c7, low = 0, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & XMM) != XMM) {
        return 0;
    }
    if (!(c & bit_OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d) || ((int)b7 & EVEX) != EVEX || !(c7 & VPCLMULQDQ)) {
        return 128;
    }
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & ZMM) == ZMM ? 512 : 128;
}

NARROW static __m128i turned(__m128i block) { return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)); }

/* 256 bits, of which the middle ones are added to the upper half of low and the lower half of high. */
NARROW static __m128i reduce(__m128i low, __m128i middle, __m128i high) {
    const __m128i fold = _mm_set1_epi64x((long long)FOLD);
    middle = _mm_xor_si128(middle, _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e), _mm_clmulepi64_si128(low, fold, 0x00)));
    return _mm_xor_si128(high, _mm_xor_si128(_mm_shuffle_epi32(middle, 0x4e), _mm_clmulepi64_si128(middle, fold, 0x00)));
}

/* power: multiplied by x, and then so is the product. */
NARROW static __m128i multiply(__m128i block, __m128i power) {
    __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(block, power, 0x01), _mm_clmulepi64_si128(block, power, 0x10));
    return reduce(_mm_clmulepi64_si128(block, power, 0x00), middle, _mm_clmulepi64_si128(block, power, 0x11));
}

NARROW static __m128i times_x(__m128i block) {
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(block), high = (uint64_t)_mm_cvtsi128_si64(_mm_shuffle_epi32(block, 0x4e));
    uint64_t over = -(high >> 63);
    return _mm_set_epi64x((long long)((high << 1 | low >> 63) ^ (over & FOLD)), (long long)(low << 1 ^ (over & 1)));
}

NARROW void ghash_begin(struct ghash *hash, const unsigned char *key) {
    __m128i *powers = (__m128i *)hash->powers;
    __m128i first = times_x(turned(_mm_loadu_si128((const __m128i *)key)));
    powers[BLOCKS - 1] = first;
    for (int i = BLOCKS - 2; i >= 0; i--) {
        powers[i] = multiply(powers[i + 1], first);
    }
    *(__m128i *)hash->state = _mm_setzero_si128();
    hash->bytes = 0;
}

NARROW static void add_narrow(struct ghash *hash, const char *at, const char *end) {
    const __m128i *powers = (const __m128i *)hash->powers + BLOCKS - FEWER;
    __m128i state = *(const __m128i *)hash->state;
    for (; at < end; at += FEWER * BLOCK) {
        __m128i low = _mm_setzero_si128(), middle = low, high = low, before = state;
#pragma GCC unroll 8
        for (int i = 0; i < FEWER; i++) {
            __m128i block = _mm_xor_si128(turned(_mm_loadu_si128((const __m128i *)at + i)), before);
            before = _mm_setzero_si128();
            low = _mm_xor_si128(low, _mm_clmulepi64_si128(block, powers[i], 0x00));
            middle = _mm_xor_si128(middle, _mm_xor_si128(_mm_clmulepi64_si128(block, powers[i], 0x01), _mm_clmulepi64_si128(block, powers[i], 0x10)));
            high = _mm_xor_si128(high, _mm_clmulepi64_si128(block, powers[i], 0x11));
        }
        state = reduce(low, middle, high);
    }
    *(__m128i *)hash->state = state;
}

WIDE static __m128i folded(__m512i sum) {
    return _mm_xor_si128(_mm_xor_si128(_mm512_castsi512_si128(sum), _mm512_extracti32x4_epi32(sum, 1)),
                         _mm_xor_si128(_mm512_extracti32x4_epi32(sum, 2), _mm512_extracti32x4_epi32(sum, 3)));
}

WIDE static void add_wide(struct ghash *hash, const char *at, const char *end) {
    const __m512i turn = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i *powers = (const __m512i *)hash->powers;
    __m128i state = *(const __m128i *)hash->state;
    for (; at < end; at += BLOCKS * BLOCK) {
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
}

void ghash_add(struct ghash *hash, int width, const void *from, size_t length) {
    (width == 512 ? add_wide : add_narrow)(hash, from, (const char *)from + length);
    hash->bytes += length;
}

NARROW void ghash_end(struct ghash *hash, unsigned char *result) {
    const __m128i *powers = (const __m128i *)hash->powers;
    __m128i length = _mm_set_epi64x((long long)(8 * hash->bytes), 0);
    __m128i all = multiply(_mm_xor_si128(*(const __m128i *)hash->state, length), powers[BLOCKS - 1]);
    _mm_storeu_si128((__m128i *)result, turned(all));
}
