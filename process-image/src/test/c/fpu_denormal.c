/* The floating-point control words are per thread: flush-to-zero, denormals-are-zero, rounding, x87 precision. */
#include "feature.h"
#include <fenv.h>
#include <immintrin.h>

typedef struct {
  unsigned mxcsr;
  int rounding;
  unsigned short x87;
} Control;

static const Control controls[] = {
    {0x1f80, FE_TONEAREST, 0x037f},
    {0x9fc0, FE_TONEAREST, 0x027f}, /* flush to zero and denormals are zero; 53-bit x87 */
    {0x7f80, FE_TOWARDZERO, 0x0f7f},
    {0x5f80, FE_UPWARD, 0x0b7f},
};

static void *worker(void *argument) {
  const Control *control = argument;
  bool flush = control->mxcsr & 0x8000;
  _mm_setcsr(control->mxcsr);
  __asm__ volatile("fldcw %0" : : "m"(control->x87));
  volatile double tiny = 0x1p-1030, one = 1, three = 3;
  volatile long double kept = 1;
  uint64_t n = 0;
  double quotient = one / three;
  while (!feature_over) {
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    CHECK(x87 == control->x87, "x87 control word was %#x, is %#x", control->x87, x87);
    CHECK((_mm_getcsr() & ~0x3fu) == control->mxcsr, "mxcsr was %#x, is %#x", control->mxcsr, _mm_getcsr());
    volatile double product = tiny * 0.5;
    CHECK(flush ? product == 0 : product == 0x1p-1031 || flush, "a denormal product is %a", product);
    CHECK(one / three == quotient, "1/3 is rounded another way now");
    kept += 1;
    CHECK(kept == (long double)(++n + 1), "an x87 sum is wrong");
    if (n % 4096 == 0) pause_ms(1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(worker, (void *)&controls[i]);
  feature_ready();
  while (!feature_finishing()) pause_ms(10);
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  return feature_pass();
}
