/* Vector registers, opmasks and mxcsr stay in place in a loop that makes no system call.
 * The registers are loaded, kept over a long spin in one asm block, stored and compared. */
#include "feature.h"

enum { ZMM = 32 * 64, MASKS = 8 * 8 };
static _Atomic uint64_t rounds;

#define EACH16(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define EACH32(M) \
  EACH16(M) M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define EACH_MASK(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define SPIN "mov %[spins], %%rcx\n1: dec %%rcx\njnz 1b\n"
#define LOAD_YMM(n) "vmovdqu " #n "*32(%[in]), %%ymm" #n "\n"
#define STORE_YMM(n) "vmovdqu %%ymm" #n ", " #n "*32(%[out])\n"
#define LOAD_ZMM(n) "vmovdqu64 " #n "*64(%[in]), %%zmm" #n "\n"
#define STORE_ZMM(n) "vmovdqu64 %%zmm" #n ", " #n "*64(%[out])\n"
#define LOAD_MASK(n) "kmovw 2048+" #n "*8(%[in]), %%k" #n "\n"
#define STORE_MASK(n) "kmovw %%k" #n ", 2048+" #n "*8(%[out])\n"
#define LOW \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"

static void keep_ymm(const void *in, void *out, uint64_t spins) {
  __asm__ volatile(EACH16(LOAD_YMM) SPIN EACH16(STORE_YMM) "vzeroupper\n"
                   :
                   : [in] "r"(in), [out] "r"(out), [spins] "r"(spins)
                   : "rcx", "memory", "cc", LOW);
}

/* xmm16..31 and k1..7 cannot be named as clobbers without -mavx512f; this translation unit does not use them. */
static void keep_zmm(const void *in, void *out, uint64_t spins) {
  __asm__ volatile(EACH32(LOAD_ZMM) EACH_MASK(LOAD_MASK) SPIN EACH32(STORE_ZMM) EACH_MASK(STORE_MASK) "vzeroupper\n"
                   :
                   : [in] "r"(in), [out] "r"(out), [spins] "r"(spins)
                   : "rcx", "memory", "cc", LOW);
}

static uint32_t mxcsr(void) {
  uint32_t value;
  __asm__ volatile("stmxcsr %0" : "=m"(value));
  return value;
}

static void *worker(void *argument) {
  uint64_t seed = (uint64_t)argument;
  uint32_t control = seed % 2 ? 0x7f80 : 0x3f80; /* round to zero; round down: with all exceptions masked */
  unsigned char in[ZMM + MASKS], out[ZMM + MASKS];
  bool wide = __builtin_cpu_supports("avx512f"), vectors = __builtin_cpu_supports("avx");
  CHECK(vectors, "this processor has no AVX: nothing can be tested");
  __asm__ volatile("ldmxcsr %0" : : "m"(control));
  while (!feature_over) {
    fill_pattern(in, sizeof in, seed);
    memset(out, 0, sizeof out);
    if (wide) keep_zmm(in, out, 3000000);
    else keep_ymm(in, out, 3000000);
    CHECK(!memcmp(in, out, wide ? ZMM : 16 * 32), "a vector register changed");
    for (int k = 1; wide && k < 8; k++)
      CHECK(!memcmp(in + ZMM + 8 * k, out + ZMM + 8 * k, 2), "mask register k%d changed", k);
    CHECK((mxcsr() & ~0x3fu) == control, "mxcsr was %#x, is %#x", control, mxcsr());
    seed += 2;
    rounds++;
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_t threads[] = {start_thread(worker, (void *)1), start_thread(worker, (void *)2)};
  feature_ready();
  while (!feature_finishing()) pause_ms(10);
  for (int i = 0; i < 2; i++) join_thread(threads[i]);
  CHECK(rounds > 1, "no round was completed");
  return feature_pass();
}
