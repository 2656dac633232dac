/* How long a look-up in a translation table takes: table_cost DIRECTORY, keys "LID QPN" on standard input.
 * hot: the same 64 entries again and again. all: all entries in random order, more than the second-level cache holds.
 * cold: entries in random order, each once, after everything was pushed out of the caches; memory: the same with a bare
 * read of one word in their place, which is what the machine takes for any line that is in no cache. Each look-up's key
 * depends on the answer of the one before, so that they cannot overlap. Prints nanoseconds: medians of several rounds.
 */
#include "address_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOT_ENTRIES = 64, HOT_LOOKUPS = 2000000, COLD_LOOKUPS = 512, ROUNDS = 21, SWEEP_BYTES = 256 << 20 };

struct key {
    uint16_t lid;
    uint32_t qpn;
};

static struct key *keys;
static size_t count;
static unsigned char *sweep;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void push_out(void)
{
    for (size_t i = 0; i < SWEEP_BYTES; i += 64)
        sweep[i]++;
}

static double look_up(const struct key *from, size_t entries, size_t lookups)
{
    struct address_entry entry;
    uint32_t missing = 0, last = 0;
    double start = now_ns();
    for (size_t i = 0, at = 0; i < lookups; i++, at = at + 1 == entries ? 0 : at + 1) {
        const struct key *key =
            &from[at + (last & 0x80000000u)]; /* a real QPN has 24 bits: always 0, but only the answer tells */
        missing += !address_table_find(0, key->lid, key->qpn, &entry);
        last = entry.real_qpn;
    }
    double took = now_ns() - start;
    if (missing) {
        fprintf(stderr, "table_cost: %u look-ups found nothing\n", missing);
        exit(1);
    }
    return took / lookups;
}

/* The words of a chain through memory of the table's size, in random order. */
static double chase(const uint32_t *next, volatile uint32_t *at, size_t steps)
{
    uint32_t line = *at;
    double start = now_ns();
    for (size_t i = 0; i < steps; i++)
        line = next[(size_t)line * (64 / sizeof *next)];
    *at = line;
    return (now_ns() - start) / steps;
}

static uint32_t *make_chain(size_t lines)
{
    uint32_t *next = malloc(lines * 64), *order = malloc(lines * sizeof *order);
    uint64_t state = 88172645463325252u;
    if (!next || !order)
        exit(1);
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t other = state % (i + 1);
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (size_t i = 0; i < lines; i++)
        next[(size_t)order[i] * (64 / sizeof *next)] = order[(i + 1) % lines];
    free(order);
    return next;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

static void shuffle(void)
{
    uint64_t state = 88172645463325252u; /* a fixed seed: the same order in each run */
    for (size_t i = count - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t other = state % (i + 1);
        struct key swapped = keys[i];
        keys[i] = keys[other];
        keys[other] = swapped;
    }
}

int main(int argc, char **argv)
{
    char error[256];
    double hot[ROUNDS], all[ROUNDS], cold[ROUNDS], memory[ROUNDS];
    unsigned lid, qpn;
    size_t room = 1 << 20;
    if (argc != 2 || address_table_map(argv[1], error, sizeof error)) {
        fprintf(stderr, "table_cost DIRECTORY: %s\n", argc == 2 ? error : "usage");
        return 1;
    }
    keys = malloc(room * sizeof *keys);
    sweep = calloc(SWEEP_BYTES, 1);
    while (keys && count < room && scanf("%u %u", &lid, &qpn) == 2)
        keys[count++] = (struct key){(uint16_t)lid, qpn};
    if (!keys || !sweep || count < (size_t)ROUNDS * COLD_LOOKUPS) {
        fprintf(stderr, "table_cost: %zu keys are too few, or there is no memory\n", count);
        return 1;
    }
    shuffle();
    look_up(keys, count, count); /* page faults are not the table's cost */
    for (int round = 0; round < ROUNDS; round++) {
        push_out();
        cold[round] = look_up(keys + round * COLD_LOOKUPS, COLD_LOOKUPS, COLD_LOOKUPS);
    }
    uint32_t *chain = make_chain(count / 2);
    volatile uint32_t at = 0; /* the table takes 32 bytes an entry: two directions of 16 */
    for (int round = 0; round < ROUNDS; round++) {
        push_out();
        memory[round] = chase(chain, &at, COLD_LOOKUPS);
        all[round] = look_up(keys, count, count);
        hot[round] = look_up(keys, HOT_ENTRIES, HOT_LOOKUPS);
    }
    printf("a look-up: hot %.1f ns, all in random order %.1f ns, cold %.1f ns (one read of memory that is in no cache: "
           "%.1f ns)\n",
           median(hot), median(all), median(cold), median(memory));
    return 0;
}
