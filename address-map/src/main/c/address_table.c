#include "address_table.h"
#include "shared_file.h"
#include <stdio.h>

static struct shared_file file;
static const struct udckpt_table_header *header;
static const struct udckpt_table_slot *directions[2]; /* forward, reverse */
static const uint8_t (*virtual_gids)[UDCKPT_TABLE_GID_BYTES], (*real_gids)[UDCKPT_TABLE_GID_BYTES]; /* by LID */
static uint32_t slots;
static const uint64_t no_epoch;
const uint64_t *address_epoch = &no_epoch;

int address_table_map(const char *directory, char *error, size_t size)
{
    if (shared_file_map(&file, directory, "table", 0, error, size))
        return -1;
    const struct udckpt_table_header *mapped = file.start;
    size_t wanted = UDCKPT_TABLE_HEADER_BYTES +
                    2 * ((size_t)mapped->slots * sizeof **directions + UDCKPT_TABLE_LIDS * sizeof *virtual_gids);
    if (mapped->magic != UDCKPT_TABLE_MAGIC || mapped->layout_hash != UDCKPT_LAYOUT_HASH || file.size < wanted) {
        snprintf(
            error, size,
            "%s/table is not the translation table of this build of udckpt (layout 0x%llx, the library has 0x%llx)",
            directory, (unsigned long long)mapped->layout_hash, (unsigned long long)UDCKPT_LAYOUT_HASH);
        return -1;
    }
    header = mapped;
    slots = mapped->slots;
    directions[0] = (const void *)((const char *)file.start + UDCKPT_TABLE_HEADER_BYTES);
    directions[1] = directions[0] + slots;
    virtual_gids = (const void *)(directions[1] + slots);
    real_gids = virtual_gids + UDCKPT_TABLE_LIDS;
    address_epoch = &mapped->epoch;
    return 0;
}

uint32_t address_table_generation(void)
{
    return header ? header->generation : 0;
}

int address_table_is_complete(void)
{
    return header && header->complete;
}

const uint8_t *address_table_key(void)
{
    return header && header->has_key ? header->datagram_key : NULL;
}

static void unpack(uint64_t virtual, uint64_t real, uint64_t value, struct address_entry *entry)
{
    entry->rank = (uint32_t)(value >> UDCKPT_SLOT_RANK_SHIFT);
    entry->virtual_qpn = virtual & 0xffffff;
    entry->virtual_lid = (uint16_t)(virtual >> 24);
    entry->real_qpn = real & 0xffffff;
    entry->real_lid = (uint16_t)(real >> 24);
}

int address_table_find(int reverse, uint16_t lid, uint32_t qpn, struct address_entry *entry)
{
    const uint64_t versionless = ((uint64_t)1 << UDCKPT_SLOT_VERSION_SHIFT) - 1;
    uint64_t address = (uint64_t)lid << 24 | qpn,
             wanted = address | (uint64_t)UDCKPT_SLOT_VALID << UDCKPT_SLOT_STATE_SHIFT;
    const struct udckpt_table_slot *direction = directions[reverse != 0];
    if (!header)
        return 0;
    uint32_t slot = (uint32_t)((address * UDCKPT_TABLE_HASH_MULTIPLIER >> 32) * slots >> 32);
    for (uint32_t probes = 0; probes < slots; probes++, slot = slot + 1 == slots ? 0 : slot + 1) {
        uint64_t key = __atomic_load_n(&direction[slot].key, __ATOMIC_ACQUIRE);
        while ((key & versionless) == wanted) {
            uint64_t value = __atomic_load_n(&direction[slot].value, __ATOMIC_ACQUIRE);
            uint64_t now = __atomic_load_n(&direction[slot].key, __ATOMIC_RELAXED);
            if (now == key) {
                uint64_t other = value & UDCKPT_ADDRESS_MASK;
                unpack(reverse ? other : address, reverse ? address : other, value, entry);
                return 1;
            }
            key = now; /* changed under our hands */
        }
        if (!(key >> UDCKPT_SLOT_STATE_SHIFT & UDCKPT_SLOT_STATE_MASK))
            return 0;
    }
    return 0;
}

const uint8_t *address_virtual_gid(uint16_t lid)
{
    return virtual_gids[lid];
}

const uint8_t *address_real_gid(uint16_t lid)
{
    return real_gids[lid];
}

int address_table_range(struct udckpt_owned_range *range)
{
    return shared_file_range(&file, range);
}
