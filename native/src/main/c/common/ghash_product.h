/* Carry-less products modulo GCM's polynomial, for GHASH (NIST SP 800-38D, 6.3) of images' blocks and of datagrams.
 *
 * GCM's polynomials have their bits in the wrong order, from the highest bit of the first byte on. With the bytes
 * turned around a block is a number whose bits are in reverse; the product of two such is the reverse of the product,
 * shifted by one bit, so one factor, the power of the key, is kept multiplied by x, and no product needs to be
 * shifted. Reduced is by x^128 + x^127 + x^126 + x^121 + 1, the reverse of GCM's polynomial: from below, 64 bits at a
 * time. */
#pragma once
#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>

#define NARROW __attribute__((target("pclmul,ssse3")))
#define WIDE __attribute__((target("avx512f,avx512bw,avx2,vpclmulqdq,pclmul,ssse3")))
#define FOLD 0xc200000000000000ull /* x^127 + x^126 + x^121, without their 64 lower bits */

/* Bits of the widest registers in which this processor can: 512, 128; 0: in none (before 2010). */
static inline int ghash_product_width(void)
{
    enum {
        ZMM = 0xe6, /* XCR0: the kernel keeps the registers of 512 bits */
        VPCLMULQDQ = 1 << 10,
        XMM = bit_PCLMUL | bit_SSSE3,
        EVEX = bit_AVX512F | bit_AVX512BW
    };
    unsigned a, b, c, d, b7, c7, low = 0, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & XMM) != XMM) {
        return 0;
    }
    if (!(c & bit_OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d) || ((int)b7 & EVEX) != EVEX ||
        !(c7 & VPCLMULQDQ)) {
        return 128;
    }
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & ZMM) == ZMM ? 512 : 128;
}

NARROW static inline __m128i turned(__m128i block)
{
    return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* 256 bits, of which the middle ones are added to the upper half of low and the lower half of high. */
NARROW static inline __m128i reduce(__m128i low, __m128i middle, __m128i high)
{
    const __m128i fold = _mm_set1_epi64x((long long)FOLD);
    middle = _mm_xor_si128(middle, _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e), _mm_clmulepi64_si128(low, fold, 0x00)));
    return _mm_xor_si128(high,
                         _mm_xor_si128(_mm_shuffle_epi32(middle, 0x4e), _mm_clmulepi64_si128(middle, fold, 0x00)));
}

/* power: multiplied by x, and then so is the product. */
NARROW static inline __m128i multiply(__m128i block, __m128i power)
{
    __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(block, power, 0x01), _mm_clmulepi64_si128(block, power, 0x10));
    return reduce(_mm_clmulepi64_si128(block, power, 0x00), middle, _mm_clmulepi64_si128(block, power, 0x11));
}

NARROW static inline __m128i times_x(__m128i block)
{
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(block);
    uint64_t high = (uint64_t)_mm_cvtsi128_si64(_mm_shuffle_epi32(block, 0x4e));
    uint64_t over = -(high >> 63);
    return _mm_set_epi64x((long long)((high << 1 | low >> 63) ^ (over & FOLD)), (long long)(low << 1 ^ (over & 1)));
}

WIDE static inline __m128i folded(__m512i sum)
{
    return _mm_xor_si128(_mm_xor_si128(_mm512_castsi512_si128(sum), _mm512_extracti32x4_epi32(sum, 1)),
                         _mm_xor_si128(_mm512_extracti32x4_epi32(sum, 2), _mm512_extracti32x4_epi32(sum, 3)));
}
