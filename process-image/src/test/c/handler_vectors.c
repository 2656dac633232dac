/* Code that a signal handler has interrupted gets its vector registers back when the handler returns, from the frame on
 * its stack. The worker is in its handler, on a signal stack of its own, nearly all the time. */
#include "feature.h"

enum { YMM = 16 * 32, STACK = 1 << 16 };
static _Atomic uint64_t rounds, handled;

#define EACH16(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define LOAD(n) "vmovdqu " #n "*32(%[in]), %%ymm" #n "\n"
#define STORE(n) "vmovdqu %%ymm" #n ", " #n "*32(%[out])\n"
#define ALL \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"

static void keep(const void *in, void *out) {
  __asm__ volatile(EACH16(LOAD) "mov $1000000, %%rcx\n1: dec %%rcx\njnz 1b\n" EACH16(STORE) "vzeroupper\n"
                   :
                   : [in] "r"(in), [out] "r"(out)
                   : "rcx", "memory", "cc", ALL);
}

static void handler(int signal) {
  (void)signal;
  pause_ms(20);
  __asm__ volatile("vzeroall" : : : ALL);
  handled++;
}

static void *worker(void *unused) {
  unsigned char in[YMM], out[YMM];
  stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
  MUST(stack.ss_sp && !sigaltstack(&stack, NULL));
  CHECK(__builtin_cpu_supports("avx"), "this processor has no AVX: nothing can be tested");
  for (uint64_t seed = 1; !feature_over; seed++) {
    fill_pattern(in, sizeof in, seed);
    memset(out, 0, sizeof out);
    keep(in, out);
    CHECK(!memcmp(in, out, YMM), "a vector register changed");
    rounds++;
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
  MUST(!sigaction(SIGUSR1, &action, NULL));
  pthread_t thread = start_thread(worker, NULL);
  while (!handled) {
    OK(pthread_kill(thread, SIGUSR1));
    pause_ms(5);
  }
  feature_ready();
  while (!feature_finishing()) {
    OK(pthread_kill(thread, SIGUSR1));
    pause_ms(30);
  }
  join_thread(thread);
  CHECK(rounds > 0, "no round was completed");
  return feature_pass();
}
