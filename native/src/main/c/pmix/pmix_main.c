#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmix_launcher.h"

void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("udckpt-pmix: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  _exit(1);
}

static int first_rank(void) {
  const char *text = getenv("PMI_RANK");
  char *end;
  long rank = text ? strtol(text, &end, 10) : -1;
  if (!text || end == text || *end || rank < 0 || rank > 0xffffff)
    die("PMI_RANK is not a rank: this program is part of udckpt and is started by 'udckpt run --mpi pmix'");
  return (int)rank;
}

/* Signals for the job come to the whole process group, so the ranks have them anyway: the launcher lives as long as
 * they do. */
static void leave_signals_to_the_ranks(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, before);
}

int main(int count, char **words) {
  if (count < 3) die("usage: udckpt-pmix LAYOUT PROGRAM [ARG...]");
  static struct layout layout;
  layout_parse(&layout, words[1], first_rank());
  sigset_t before;
  leave_signals_to_the_ranks(&before); /* before there are threads, which inherit it */
  pmi1_open();
  server_open(&layout);
  fence_start(&layout);
  ranks_start(&layout, words + 2, &before);
  int code = ranks_await();
  server_close();
  pmi1_finalize();
  return code;
}
