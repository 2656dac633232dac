#include "soft_replay.h"
#include <stddef.h>
#include <stdlib.h>

enum { BITS = 64, WORDS = 4, SEEN = BITS * WORDS, FIRST_ROOM = 16 };

struct entry {
    uint64_t source; /* 0: free */
    uint64_t latest;
    uint64_t seen[WORDS]; /* bit n, counted from `latest` back */
};

/* Open addressing, at most three quarters full. Sources are members of the job: there are no more of them than it has queue pairs. */
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
    uint32_t at = (uint32_t) (source * 0x9e3779b97f4a7c15ull >> 32);
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

/* The bits move up by how far the latest has moved. */
static void advance(struct entry *entry, uint64_t by)
{
    for (int i = WORDS - 1; i >= 0; i--) {
        uint64_t words = by / BITS, bits = by % BITS;
        uint64_t whole = (uint64_t) i >= words ? entry->seen[i - (int) words] : 0;
        uint64_t below = bits && (uint64_t) i > words ? entry->seen[i - (int) words - 1] >> (BITS - bits) : 0;
        entry->seen[i] = whole << bits | below;
    }
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
    if (__builtin_expect(counter > entry->latest, 1)) {
        uint64_t by = counter - entry->latest;
        if (by == 1 && WORDS == 4) { /* the usual case, in few instructions */
            entry->seen[3] = entry->seen[3] << 1 | entry->seen[2] >> 63;
            entry->seen[2] = entry->seen[2] << 1 | entry->seen[1] >> 63;
            entry->seen[1] = entry->seen[1] << 1 | entry->seen[0] >> 63;
            entry->seen[0] = entry->seen[0] << 1 | 1;
        } else {
            advance(entry, by < SEEN ? by : SEEN);
            entry->seen[0] |= 1;
        }
        entry->latest = counter;
        return true;
    }
    uint64_t behind = entry->latest - counter;
    if (behind >= SEEN || entry->seen[behind / BITS] >> behind % BITS & 1)
        return false;
    entry->seen[behind / BITS] |= 1ull << behind % BITS;
    return true;
}

void soft_replay_free(struct soft_replay *replay)
{
    free(replay);
}
