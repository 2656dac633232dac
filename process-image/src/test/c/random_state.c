/* Generators of random numbers: the vDSO's getrandom, which keeps its state in droppable memory, as glibc 2.41 does it,
 * and one of this program's own in ordinary memory. After a restart the first begins anew: of two restarts of one image
 * no two draw the same. What each draws when it is asked to finish is in `numbers`, a line for each generator
 * (RandomStateTest). */
#include "smaps.h"
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>

enum { PAGE = 4096, THREADS = 3, DRAWS = 8, DROPPABLE = 0x08 };
typedef struct {
  uint32_t size, protection, flags, reserved[13];
} Parameters; /* struct vgetrandom_opaque_params, linux/random.h */
typedef ssize_t Random(void *buffer, size_t length, unsigned flags, void *state, size_t size);
typedef struct {
  uint64_t seeded, state;
} Generator;

static Random *vdso_random;
static Parameters parameters;
static unsigned char *states; /* a state for each thread in a page */
static uint64_t drawn[THREADS][DRAWS], first[THREADS];
static _Atomic int waiting;
static _Atomic bool draw;

/* The function's address, from the vDSO's dynamic symbols; null on kernels that have none (before 6.11). */
static Random *find(void) {
  const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
  if (!base) return NULL;
  const Elf64_Ehdr *head = (const void *)base;
  const Elf64_Phdr *segments = (const void *)(base + head->e_phoff);
  const Elf64_Dyn *dynamic = NULL;
  long bias = 0;
  for (int i = 0; i < head->e_phnum; i++) {
    if (segments[i].p_type == PT_LOAD) bias = (long)(base + segments[i].p_offset - segments[i].p_vaddr);
    if (segments[i].p_type == PT_DYNAMIC) dynamic = (const void *)(base + segments[i].p_offset);
  }
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const void *)(dynamic->d_un.d_ptr + bias);
    if (dynamic->d_tag == DT_STRTAB) names = (const void *)(dynamic->d_un.d_ptr + bias);
  }
  for (int i = 0; symbols && (const char *)(symbols + i) < names; i++)
    if (!strcmp(names + symbols[i].st_name, "__vdso_getrandom")) return (Random *)(symbols[i].st_value + bias);
  return NULL;
}

static uint64_t one(int thread) {
  uint64_t number;
  if (vdso_random)
    CHECK(vdso_random(&number, sizeof number, 0, states + (size_t)thread * parameters.size, parameters.size) ==
              sizeof number,
          "the vDSO's getrandom");
  else CHECK(getrandom(&number, sizeof number, 0) == sizeof number, "getrandom");
  return number;
}

static uint64_t next(Generator *generator) {
  if (!generator->seeded) MUST(getrandom(&generator->state, sizeof generator->state, 0) == sizeof generator->state);
  generator->seeded = 1;
  return next_random(&generator->state);
}

static void *worker(void *argument) {
  long me = (long)argument;
  first[me] = one(me);
  waiting++;
  while (!draw) pause_ms(2);
  for (int i = 0; i < DRAWS; i++) drawn[me][i] = one(me);
  return NULL;
}

static void write_line(FILE *file, const char *name, uint64_t numbers[DRAWS]) {
  fprintf(file, "%s", name);
  for (int i = 0; i < DRAWS; i++) fprintf(file, " %016llx", (unsigned long long)numbers[i]);
  fprintf(file, "\n");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  vdso_random = find();
  if (vdso_random && vdso_random(NULL, 0, 0, &parameters, ~0UL)) vdso_random = NULL;
  if (vdso_random) {
    CHECK((parameters.flags & 0xf) == DROPPABLE && parameters.size * THREADS <= PAGE,
          "the vDSO asks for memory with the flags %#x", parameters.flags);
    states = mmap(NULL, PAGE, parameters.protection, parameters.flags, -1, 0);
    MUST(states != MAP_FAILED && has_flag(states, "dp"));
  }
  Generator *plain = calloc(1, sizeof *plain);
  MUST(plain);
  next(plain);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) threads[i] = start_thread(worker, (void *)i);
  while (waiting < THREADS) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(!vdso_random || (has_flag(states, "dp") && has_flag(states, "wf") && has_flag(states, "dd")),
          "the droppable memory is droppable no more");
    pause_ms(5);
  }
  draw = true;
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  uint64_t ordinary[DRAWS];
  for (int i = 0; i < DRAWS; i++) ordinary[i] = next(plain);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < DRAWS; i++)
      CHECK(drawn[t][i] != first[t] && drawn[t][i] != drawn[(t + 1) % THREADS][i], "a number came twice");
  FILE *file = fopen(scratch("numbers"), "w");
  MUST(file);
  for (int t = 0; t < THREADS; t++) write_line(file, vdso_random ? "vdso" : "call", drawn[t]);
  write_line(file, "plain", ordinary);
  MUST(!fclose(file));
  return feature_pass();
}
