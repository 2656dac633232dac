/*
 * Fences over all units, by PMI-1: each unit puts what its ranks have contributed, in pieces, and after the barrier
 * gets that of all others: their first pieces, which say how many there are, and then the rest. All of one go are
 * announced before the first is got, so that the agent asks for them together. A thread does one fence after the
 * other: the order of fences of all ranks is the same everywhere, since each rank has it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_launcher.h"

/* of one unit's data, many times what the ranks of a host have for each other: each costs a request and an answer */
enum { PIECES_MOST = 1 << 17 };
/* a unit's first piece begins with the number of its bytes, in hex as all that follows */
enum { KEY_MOST = 64, LENGTH_DIGITS = 8 };

struct fence {
  struct fence *next;
  bool collects;
  char *data;
  size_t size;
  pmix_modex_cbfunc_t answer;
  void *answer_data;
};

static const struct layout *layout;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t entered = PTHREAD_COND_INITIALIZER;
static struct fence *first, **last = &first;
static int number; /* of the fence: part of its keys, which PMI-1 has put once only */

static size_t size_most(void) {
  return (size_t)PIECES_MOST * (pmi1_value_most() / 2);
}

static void key_of(char *key, int unit, int piece) {
  snprintf(key, KEY_MOST, "pmix-%d-%d-%d", number, unit, piece);
}

static void put_all(int unit, const char *data, size_t size) {
  char *value = malloc(pmi1_value_most() + 1), key[KEY_MOST];
  if (!value) die("out of memory");
  if (size > size_most())
    die("the ranks of %s publish %zu bytes; the limit is %zu", layout->own->name, size, size_most());
  size_t used = snprintf(value, pmi1_value_most() + 1, "%0*zx", LENGTH_DIGITS, size), at = 0;
  for (int piece = 0; piece == 0 || at < size; piece++, used = 0) {
    for (; at < size && used + 2 <= pmi1_value_most(); at++)
      used += snprintf(value + used, 3, "%02x", (unsigned char)data[at]);
    key_of(key, unit, piece);
    pmi1_put(key, value);
  }
  free(value);
}

static int digit(char c) {
  int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  if (value < 0) die("'%c' is not a hexadecimal digit, in another unit's data", c);
  return value;
}

/* Another unit's data, of which the first piece is here. */
struct arriving {
  char *first; /* hex, behind the length */
  size_t size;
};

static void expect(int unit, int piece) {
  char key[KEY_MOST];
  key_of(key, unit, piece);
  pmi1_expect(key);
}

static void begin(struct arriving *data, int unit) {
  char *value = malloc(pmi1_value_most() + 1), key[KEY_MOST], digits[LENGTH_DIGITS + 1] = "";
  if (!value) die("out of memory");
  key_of(key, unit, 0);
  pmi1_get(key, value);
  if (strlen(value) < LENGTH_DIGITS) die("%s has no length", key);
  char *end;
  data->size = strtoul(memcpy(digits, value, LENGTH_DIGITS), &end, 16);
  if (end != digits + LENGTH_DIGITS || data->size > size_most())
    die("%s starts with '%.8s', which is not a valid length", key, digits);
  data->first = memmove(value, value + LENGTH_DIGITS, strlen(value + LENGTH_DIGITS) + 1);
}

/* Pieces after the first one, as put_all makes them. */
static int further_pieces(const struct arriving *data) {
  size_t first = (pmi1_value_most() - LENGTH_DIGITS) / 2, each = pmi1_value_most() / 2;
  return data->size <= first ? 0 : (int)((data->size - first + each - 1) / each);
}

/* Returns how many bytes of the data are here now. */
static size_t append(const struct arriving *data, size_t at, const char *hex, FILE *out) {
  for (; at < data->size && hex[0]; hex += 2, at++) fputc(digit(hex[0]) << 4 | digit(hex[1]), out);
  return at;
}

static void finish(struct arriving *data, int unit, FILE *out) {
  char *value = malloc(pmi1_value_most() + 1), key[KEY_MOST];
  if (!value) die("out of memory");
  size_t at = append(data, 0, data->first, out);
  free(data->first);
  int pieces = further_pieces(data);
  for (int piece = 1; piece <= pieces; piece++) {
    key_of(key, unit, piece);
    pmi1_get(key, value);
    at = append(data, at, value, out);
  }
  if (at < data->size) die("%zu bytes of unit %d are missing", data->size - at, unit);
  free(value);
}

/* Writes the data of all units, in their order. */
static void get_all(const struct fence *own, FILE *out) {
  struct arriving *others = calloc(layout->count, sizeof *others);
  if (!others) die("out of memory");
  int self = (int)(layout->own - layout->units);
  for (int unit = 0; unit < layout->count; unit++)
    if (unit != self) expect(unit, 0);
  for (int unit = 0; unit < layout->count; unit++)
    if (unit != self) begin(&others[unit], unit);
  for (int unit = 0; unit < layout->count; unit++)
    for (int piece = 1; unit != self && piece <= further_pieces(&others[unit]); piece++) expect(unit, piece);
  for (int unit = 0; unit < layout->count; unit++) {
    if (unit == self) fwrite(own->data, 1, own->size, out);
    else finish(&others[unit], unit, out);
  }
  free(others);
}

static void run(struct fence *fence) {
  char *all = NULL;
  size_t size = 0;
  if (fence->collects) {
    FILE *out = open_memstream(&all, &size);
    if (!out) die("out of memory");
    put_all((int)(layout->own - layout->units), fence->data, fence->size);
    pmi1_barrier();
    get_all(fence, out);
    if (fclose(out)) die("out of memory");
    number++;
  } else {
    pmi1_barrier();
  }
  fence->answer(PMIX_SUCCESS, all, size, fence->answer_data, free, all);
}

static void *serve(void *nothing) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!first) pthread_cond_wait(&entered, &lock);
    struct fence *fence = first;
    if (!(first = fence->next)) last = &first;
    pthread_mutex_unlock(&lock);
    run(fence);
    free(fence->data);
    free(fence);
  }
  return nothing;
}

void fence_start(const struct layout *of) {
  layout = of;
  pthread_t thread;
  int error = pthread_create(&thread, NULL, serve, NULL);
  if (error) die("a thread for fences: %s", strerror(error));
}

void fence_enter(bool collects, const char *data, size_t size, pmix_modex_cbfunc_t answer, void *answer_data) {
  struct fence *fence = malloc(sizeof *fence);
  char *copy = malloc(size + 1);
  if (!fence || !copy) die("out of memory");
  if (size) memcpy(copy, data, size);
  *fence = (struct fence){NULL, collects, copy, size, answer, answer_data};
  pthread_mutex_lock(&lock);
  *last = fence;
  last = &fence->next;
  pthread_cond_signal(&entered);
  pthread_mutex_unlock(&lock);
}
