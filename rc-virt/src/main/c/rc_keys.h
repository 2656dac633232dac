/* Remote keys. A job may hand its own (virtual) keys to peers by any means; a peer's work request names one, and the device
 * wants the real one of this life. An rkey means something on a connected queue pair only, whose peer is one process: so
 * each process publishes its pairs of keys in a shared file of the runtime directory (`keys.RANK`, struct keys_header), which
 * peers map when they connect; of a rank of another node the agent makes one. The hit side is one load from an open-addressed table. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>
#include <stdint.h>

struct rc_peer_keys {
    const uint64_t *slots; /* virtual key << 32 | real key; 0: end of the probe */
    const uint32_t *differ; /* 0 while each pair's keys are the same */
    int rank;
    int mirrored; /* it is on another node: a key that was given after the file was made may be missing in it */
    struct rc_peer_keys *next;
};

static inline uint32_t rc_key_slot(uint32_t key)
{
    return (key * (uint32_t)UDCKPT_KEYS_MULTIPLIER) >> (32 - UDCKPT_KEYS_BITS);
}

static inline int rc_may_be_missing(const struct rc_peer_keys *keys, uint32_t key)
{
    return keys->mirrored && key >= UDCKPT_KEYS_GIVEN;
}

/* The agent's word for one that is missing; the key itself if nobody has it, for the peer's device to refuse. */
uint32_t rc_ask_key(const struct rc_peer_keys *keys, uint32_t key);

/* Puts in the key of this life, where the first look finds it or there is none to be found; else returns 0. */
static inline int rc_translate_near(const struct rc_peer_keys *keys, uint32_t *key)
{
    if (!keys)
        return 1;
    uint64_t pair = __atomic_load_n(&keys->slots[rc_key_slot(*key)], __ATOMIC_RELAXED);
    if (__builtin_expect((uint32_t)(pair >> 32) == *key, 1))
        *key = (uint32_t)pair;
    else if (pair || rc_may_be_missing(keys, *key))
        return 0;
    return 1;
}

static inline uint32_t rc_real_key(const struct rc_peer_keys *keys, uint32_t key)
{
    if (!keys)
        return key;
    /* Each slot once: a peer can write into its file what it likes. */
    for (uint32_t probes = 0, slot = rc_key_slot(key); probes < 1u << UDCKPT_KEYS_BITS; probes++, slot = (slot + 1) % (1u << UDCKPT_KEYS_BITS)) {
        uint64_t pair = __atomic_load_n(&keys->slots[slot], __ATOMIC_RELAXED);
        if (pair >> 32 == key)
            return (uint32_t)pair;
        if (!pair)
            break;
    }
    return rc_may_be_missing(keys, key) ? rc_ask_key(keys, key) : key; /* of no region: the peer's device refuses it */
}

/* This process's own keys, only where the device does not keep them. The file is there before a peer can connect. 0 or an errno. */
int rc_keys_open(void);
int rc_keys_publish(uint32_t virtual_key, uint32_t real_key);
void rc_keys_withdraw(uint32_t virtual_key);
/* Tells the agent a pair that was published in the midst of a life, for peers on other nodes: before anybody knows the key. */
void rc_keys_announce(uint32_t virtual_key, uint32_t real_key);
/* Whether peers may know another real key by this number, in this life: it is not given to a second region. */
int rc_keys_were_told(uint32_t virtual_key);
/* Without an agent nobody is told: keys are the device's. */
int rc_keys_are_alone(void);
/* The keys of a rank's process; mapped once. NULL, with a line on standard error, when there are none. */
const struct rc_peer_keys *rc_keys_of(int rank);
/* After a restart: the mappings are gone, other files take their place. */
void rc_keys_forget(void);
/* The mappings, which are no part of an image; returns how many there are, writes at most max. */
struct udckpt_owned_range;
int rc_keys_ranges(struct udckpt_owned_range *ranges, int max);
