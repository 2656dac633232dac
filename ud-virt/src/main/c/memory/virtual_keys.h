/* From the job's memory keys to those of this incarnation: the hit side. virtual_memory.c has all of them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

extern int virtual_keys_differ __attribute__((visibility("hidden"))); /* some MR's real key is not its virtual one */

/* The keys of most regions, real << 32 | virtual, each pair in one word so that it is read whole. Two regions whose
 * keys meet here: the older one is looked up in virtual_memory.c. Nearly all devices count regions in the key's upper
 * 24 bits and vary its lowest byte (mlx5, hns, irdma, rxe, siw), so the two bytes above that one tell regions apart. */
enum { NEAR_KEYS = UINT16_MAX + 1 };
extern uint64_t virtual_near_keys[NEAR_KEYS] __attribute__((visibility("hidden")));
uint32_t virtual_far_key(uint32_t key);

/* The table entry of a key in memory: one load. */
static inline uint64_t *near_key(const uint32_t *key)
{
    uint16_t slot;
    memcpy(&slot, (const char *)key + 1, sizeof slot); /* x86 is little-endian */
    return &virtual_near_keys[slot];
}

/* Copies an element with the key that the device knows. Returns 0, and nothing is copied, when the key is not near. */
static inline __attribute__((always_inline)) int translate_element(struct ibv_sge *copy, const struct ibv_sge *sge)
{
    uint64_t pair = __atomic_load_n(near_key(&sge->lkey), __ATOMIC_RELAXED);
    if (__builtin_expect((uint32_t)pair != sge->lkey, 0))
        return 0;
    *copy = *sge;
    copy->lkey = (uint32_t)(pair >> 32);
    return 1;
}

/* The key that the device knows. An unknown one passes: the device refuses it. */
static inline uint32_t real_key(uint32_t key)
{
    uint64_t pair = __atomic_load_n(near_key(&key), __ATOMIC_RELAXED);
    return __builtin_expect((uint32_t)pair == key, 1) ? (uint32_t)(pair >> 32) : virtual_far_key(key);
}
