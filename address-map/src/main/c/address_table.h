/* The node's translation table in shared memory, read by the ranks without a lock (TranslationTable.java writes it). */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>
#include <stdint.h>

/* One queue pair of the job: what the job calls it, and where it is in this incarnation. */
struct address_entry {
    uint32_t rank;
    uint32_t virtual_qpn, real_qpn;
    uint16_t virtual_lid, real_lid;
};

/* Moves whenever a cached entry may have changed; points at a constant 0 without a table. */
extern const uint64_t *address_epoch __attribute__((visibility("hidden")));

/* Maps DIRECTORY/table, in place of the table of the incarnation before. Returns 0, or -1 with a text in error. */
int address_table_map(const char *directory, char *error, size_t size);
uint32_t address_table_generation(void);
/* Whether every endpoint of the job that can send is in it, so that nobody need be asked for others. */
int address_table_is_complete(void);
/* 16 secret bytes of this incarnation (struct verbs_device, set_key), or NULL. */
const uint8_t *address_table_key(void);

/* The entry whose virtual (or, with reverse, real) LID and QPN these are. Returns 1 when there is one. */
int address_table_find(int reverse, uint16_t lid, uint32_t qpn, struct address_entry *entry);

/* The GID of a LID's endpoints, 16 bytes; only of LIDs that address_table_find has told. They are not in the entry,
 * because most addresses are used without, and a look-up then touches one cache line. */
const uint8_t *address_virtual_gid(uint16_t lid);
const uint8_t *address_real_gid(uint16_t lid);

/* Writes the mapping's range; returns how many (0 or 1). */
int address_table_range(struct udckpt_owned_range *range);
