/* Values that can be computed again by whoever receives them. */
#pragma once
#include <stdint.h>

/* A bijective mixer of 64 bits (xor-shift-multiply), so that neighbouring inputs give unrelated
 * values: a datagram of another iteration or of another peer can not pass for the right one. */
static inline uint64_t mix64(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9fb21c651e98df25ull;
    value ^= value >> 29;
    value *= 0xd6e8feb86659fd93ull;
    return value ^ value >> 32;
}

/* Word `index` of the message that `source` sends to `destination` in `iteration`. */
static inline uint64_t payload_word(uint64_t iteration, int source, int destination, uint64_t index)
{
    uint64_t route = (uint64_t)(uint16_t)source << 16 | (uint16_t)destination;
    return mix64(mix64(iteration << 32 | route) + index);
}
