#include "soft_replay.h"
#include <stddef.h>
#include <stdlib.h>

/* A thread that is interrupted between taking a counter and sending may find others of its process far ahead. */
enum { BITS = 64, WORDS = 32, SEEN = BITS * (WORDS - 1), FIRST_ROOM = 16 };

struct entry {
    uint64_t source; /* 0: free */
    uint64_t latest;
    uint64_t seen[WORDS]; /* a bit for each counter, at its place modulo all bits (RFC 6479) */
};

/* Open addressing, at most three quarters full. Sources are members of the job: there are no more of them than it has
 * queue pairs. */
struct soft_replay {
    uint32_t mask, count;
    struct entry entries[];
};

static struct soft_replay *make(uint32_t room)
{
    struct soft_replay *replay = calloc(1, sizeof *replay + room * sizeof *replay->entries);
    if (replay)
        replay->mask = room - 1;
    return replay;
}

static struct entry *find(struct soft_replay *replay, uint64_t source)
{
    uint32_t at = (uint32_t)(source * 0x9e3779b97f4a7c15ull >> 32);
    while (replay->entries[at & replay->mask].source && replay->entries[at & replay->mask].source != source)
        at++;
    return &replay->entries[at & replay->mask];
}

static struct soft_replay *grow(struct soft_replay *old)
{
    struct soft_replay *larger = make(old ? 2 * (old->mask + 1) : FIRST_ROOM);
    for (uint32_t i = 0; larger && old && i <= old->mask; i++)
        if (old->entries[i].source) {
            *find(larger, old->entries[i].source) = old->entries[i];
            larger->count++;
        }
    if (larger)
        free(old);
    return larger;
}

__attribute__((cold, noinline)) static struct entry *add(struct soft_replay **replay, uint64_t source)
{
    if (!*replay || 4 * ((*replay)->count + 1) > 3 * ((*replay)->mask + 1)) {
        struct soft_replay *larger = grow(*replay);
        if (!larger)
            return NULL;
        *replay = larger;
    }
    struct entry *entry = find(*replay, source);
    entry->source = source;
    (*replay)->count++;
    return entry;
}

/* Moves the window up to counter; its words that get a new meaning are cleared. */
static inline void advance(struct entry *entry, uint64_t counter)
{
    uint64_t from = entry->latest / BITS, words = counter / BITS - from;
    for (uint64_t i = 1; i <= words && i <= WORDS; i++)
        entry->seen[(from + i) % WORDS] = 0;
    entry->latest = counter;
}

bool soft_replay_is_new(struct soft_replay **replay, uint64_t source, uint64_t counter)
{
    struct entry *entry = *replay ? find(*replay, source) : NULL;
    if (__builtin_expect(!entry || !entry->source, 0)) {
        entry = add(replay, source);
        if (!entry)
            return false;
        entry->latest = counter;
    }
    if (__builtin_expect(counter > entry->latest, 1))
        advance(entry, counter);
    else if (entry->latest - counter >= SEEN)
        return false;
    uint64_t *word = &entry->seen[counter / BITS % WORDS], bit = 1ull << counter % BITS;
    bool is_new = !(*word & bit);
    *word |= bit;
    return is_new;
}

void soft_replay_free(struct soft_replay *replay)
{
    free(replay);
}
