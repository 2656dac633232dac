/* Statically linked, so without the library: two threads, memory, a file. argv[1]: the file that ends it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic long ticks;

static void *tick(void *unused) {
  for (;; ticks++) usleep(500);
  return unused;
}

int main(int argc, char **argv) {
  enum { WORDS = 1 << 20 };
  unsigned *words = malloc(WORDS * sizeof *words), sum = 0;
  pthread_t thread;
  FILE *log = tmpfile();
  if (argc != 2 || !words || !log || pthread_create(&thread, NULL, tick, NULL)) return 64;
  for (unsigned i = 0; i < WORDS; i++) words[i] = i * 2654435761u;
  puts("started");
  fflush(stdout);
  for (int round = 0; round < 200 || access(argv[1], F_OK); round++) {
    for (unsigned i = 0; round < 200 && i < WORDS; i++) sum = sum * 31 + (words[i] += round);
    if (round < 200) fprintf(log, "%u\n", sum);
    usleep(10000);
  }
  for (long before = ticks; ticks == before;) usleep(10000); /* the other thread runs too */
  rewind(log);
  unsigned lines = 0, value;
  while (fscanf(log, "%u", &value) == 1) lines++, sum ^= value;
  printf("result %u of %u lines\n", sum, lines);
  return 0;
}
