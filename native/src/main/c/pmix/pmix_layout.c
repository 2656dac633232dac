/* Which ranks each unit of the job has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_launcher.h"

static void *need(void *memory) {
  if (!memory) die("out of memory");
  return memory;
}

static void unit_parse(struct unit *unit, char *text, int first) {
  char *colon = strrchr(text, ':'), *end = "x";
  long count = colon ? strtol(colon + 1, &end, 10) : 0;
  if (*end || count < 1 || count > 0xffffff - first) die("'%s' is not HOST:RANKS", text);
  *colon = 0;
  *unit = (struct unit){text, first, (int)count};
}

void layout_parse(struct layout *layout, const char *text, int first_rank) {
  int commas = 0;
  for (const char *at = text; *at; at++) commas += *at == ',';
  layout->units = need(calloc(commas + 1, sizeof *layout->units));
  char *rest = need(strdup(text)), *word;
  while ((word = strsep(&rest, ","))) {
    struct unit *unit = &layout->units[layout->count++];
    unit_parse(unit, word, layout->ranks);
    layout->ranks += unit->count;
    if (unit->first == first_rank) layout->own = unit;
  }
  if (!layout->own) die("no host of '%s' begins with rank %d", text, first_rank);
}

char *layout_names(const struct layout *layout) {
  char *text;
  size_t size;
  FILE *out = need(open_memstream(&text, &size));
  for (int i = 0; i < layout->count; i++) fprintf(out, i ? ",%s" : "%s", layout->units[i].name);
  fclose(out);
  return text;
}

static void print_ranks(FILE *out, const struct unit *unit) {
  for (int rank = unit->first; rank < unit->first + unit->count; rank++)
    fprintf(out, rank > unit->first ? ",%d" : "%d", rank);
}

char *layout_ranks(const struct layout *layout) {
  char *text;
  size_t size;
  FILE *out = need(open_memstream(&text, &size));
  for (int i = 0; i < layout->count; i++) {
    if (i) fputc(';', out);
    print_ranks(out, &layout->units[i]);
  }
  fclose(out);
  return text;
}

char *unit_ranks(const struct unit *unit) {
  char *text;
  size_t size;
  FILE *out = need(open_memstream(&text, &size));
  print_ranks(out, unit);
  fclose(out);
  return text;
}
