/* Remote keys. A job may hand its own (virtual) keys to peers by any means; a peer's work request names one, and the
 * device wants the real one of this incarnation. An rkey means something on a connected queue pair only, whose peer is
 * one process: so each process publishes its pairs of keys in a shared file of the runtime directory (`keys.RANK`,
 * struct keys_header), which peers map when they connect; of a rank of another node the agent makes one. The hit side
 * is one load from an open-addressed table. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>
#include <stdint.h>

struct peer_keys {
    const uint64_t *slots;  /* virtual key << 32 | real key; 0: end of the probe */
    const uint32_t *differ; /* 0 while each pair's keys are the same */
    int rank;
    int mirrored; /* it is on another node: a key that was given after the file was made may be missing in it */
    struct peer_keys *next;
};

static inline uint32_t keys_file_slot(uint32_t key)
{
    return (key * (uint32_t)UDCKPT_KEYS_MULTIPLIER) >> (32 - UDCKPT_KEYS_BITS);
}

static inline int keys_file_may_miss(const struct peer_keys *keys, uint32_t key)
{
    return keys->mirrored && key >= UDCKPT_KEYS_GIVEN;
}

/* The agent's word for one that is missing; the key itself if nobody has it, for the peer's device to refuse. */
uint32_t keys_file_ask(const struct peer_keys *keys, uint32_t key);

/* Puts in the key of this incarnation, where the first look finds it or there is none to be found; else returns 0. */
static inline int keys_file_translate_near(const struct peer_keys *keys, uint32_t *key)
{
    if (!keys)
        return 1;
    uint64_t pair = __atomic_load_n(&keys->slots[keys_file_slot(*key)], __ATOMIC_RELAXED);
    if (__builtin_expect((uint32_t)(pair >> 32) == *key, 1))
        *key = (uint32_t)pair;
    else if (pair || keys_file_may_miss(keys, *key))
        return 0;
    return 1;
}

static inline uint32_t keys_file_real_key(const struct peer_keys *keys, uint32_t key)
{
    if (!keys)
        return key;
    /* Each slot once: a peer can write into its file what it likes. */
    for (uint32_t probes = 0, slot = keys_file_slot(key); probes < 1u << UDCKPT_KEYS_BITS;
         probes++, slot = (slot + 1) % (1u << UDCKPT_KEYS_BITS)) {
        uint64_t pair = __atomic_load_n(&keys->slots[slot], __ATOMIC_RELAXED);
        if (pair >> 32 == key)
            return (uint32_t)pair;
        if (!pair)
            break;
    }
    /* of no region: the peer's device refuses it */
    return keys_file_may_miss(keys, key) ? keys_file_ask(keys, key) : key;
}

/* This process's own keys, only where the device does not keep them. The file is there before a peer can connect. 0 or
 * an errno. */
int keys_file_open(void);
int keys_file_publish(uint32_t virtual_key, uint32_t real_key);
void keys_file_withdraw(uint32_t virtual_key);
/* Tells the agent a pair that was published in the midst of an incarnation, for peers on other nodes: before anybody
 * knows the key. */
void keys_file_announce(uint32_t virtual_key, uint32_t real_key);
/* Whether peers may know another real key by this number, in this incarnation: it is not given to a second region. */
int keys_file_has_told(uint32_t virtual_key);
/* Without an agent nobody is told: keys are the device's. */
int keys_file_is_unread(void);
/* The keys of a rank's process; mapped once. NULL, with a line on standard error, when there are none. */
const struct peer_keys *keys_file_of(int rank);
/* After a restart: the mappings are gone, other files take their place. */
void keys_file_forget(void);
/* The mappings, which are no part of an image; returns how many there are, writes at most max. */
struct udckpt_owned_range;
int keys_file_ranges(struct udckpt_owned_range *ranges, int max);
