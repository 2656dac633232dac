/* GHASH (NIST SP 800-38D, 6.4) of whole blocks, by what the processor has. */
#pragma once
#include "soft_mac.h"

/* Bits of the registers in which it makes carry-less products: 512, 128; 0: in none. */
int soft_ghash_width(void);
/* The powers of key->hash_key, for key->width above 0. */
void soft_ghash_prepare(struct soft_mac_key *key);
/* state: 16 bytes, in the form that this width works with; at first zeros. */
void soft_ghash_narrow(const struct soft_mac_key *key, uint8_t state[16], const uint8_t *at, size_t blocks);
void soft_ghash_wide(const struct soft_mac_key *key, uint8_t state[16], const uint8_t *at, size_t blocks);
void soft_ghash_plain(const struct soft_mac_key *key, uint8_t state[16], const uint8_t *at, size_t blocks);
/* The bytes of a block turned around, which is how `narrow` and `wide` keep their state. */
void soft_ghash_turn(uint8_t state[16]);
