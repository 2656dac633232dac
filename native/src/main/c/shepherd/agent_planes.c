/*
 * libudckpt-agent.so, for images that are compressed: the bytes of numbers of eight bytes by their places, and back
 * (BytePlanes.java), some ten times as fast as in Java before a JVM has compiled that to its best.
 */
#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

enum { PLANES = 8, VALUES = 256, NUMBERS = 16, SQUARE = NUMBERS * PLANES };

/* The bytes of a and b in turns. Of the four bits that tell a byte's place in a register, this moves each one up and
 * puts the register's at the end; the highest one tells in which register the byte is then. */
static inline void interleave(__m128i *a, __m128i *b) {
  __m128i low = _mm_unpacklo_epi8(*a, *b);
  *b = _mm_unpackhi_epi8(*a, *b);
  *a = low;
}

static inline void interleave_all(__m128i r[PLANES], unsigned distance) {
  for (unsigned i = 0; i < PLANES; i++)
    if (!(i & distance)) interleave(&r[i], &r[i | distance]);
}

/*
 * Puts the bytes at each place together, at to[place]. A register holds two numbers: byte k of
 * number n = 2r + h is at 8h + k of register r. At last it is at n of register p, of whose bits the first turn gives
 * the lowest of k to where the highest of r was, the second and third the others: the registers' order below.
 */
__attribute__((visibility("default"))) long udckpt_agent_planes_split(const char *from, size_t length,
                                                                      char *const to[PLANES]) {
  static const unsigned char plane_of[PLANES] = {0, 2, 4, 6, 1, 3, 5, 7};
  for (size_t at = 0; at < length; at += SQUARE) {
    __m128i r[PLANES];
    for (unsigned i = 0; i < PLANES; i++) r[i] = _mm_loadu_si128((const __m128i *)(from + at) + i);
    interleave_all(r, 4);
    interleave_all(r, 2);
    interleave_all(r, 1);
    interleave_all(r, 4);
    for (unsigned i = 0; i < PLANES; i++) _mm_storeu_si128((__m128i *)(to[plane_of[i]] + at / PLANES), r[i]);
  }
  return 0;
}

/* The other way round: three more turns of the same kind. */
__attribute__((visibility("default"))) long udckpt_agent_planes_join(const char *from, size_t length, char *to) {
  size_t plane = length / PLANES;
  for (size_t at = 0; at < length; at += SQUARE) {
    __m128i r[PLANES];
    for (unsigned i = 0; i < PLANES; i++) r[i] = _mm_loadu_si128((const __m128i *)(from + i * plane + at / PLANES));
    interleave_all(r, 4);
    interleave_all(r, 2);
    interleave_all(r, 1);
    for (unsigned i = 0; i < PLANES; i++) _mm_storeu_si128((__m128i *)(to + at) + i, r[i]);
  }
  return 0;
}

/* Counts the values of the bytes at each place, in some numbers here and there. */
__attribute__((visibility("default"))) long udckpt_agent_planes_count(const char *from, size_t length,
                                                                      uint32_t counts[PLANES][VALUES]) {
  enum { RUNS = 32, RUN = 32 * PLANES };
  size_t stride = length / RUNS / PLANES * PLANES;
  for (size_t run = 0; run < RUNS; run++)
    for (size_t i = 0; i < RUN; i++) counts[i % PLANES][(unsigned char)from[run * stride + i]]++;
  return 0;
}
