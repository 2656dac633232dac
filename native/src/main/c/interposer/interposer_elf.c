#define _GNU_SOURCE
#include "interposer_elf.h"
#include <dlfcn.h>
#include <string.h>

#define HIDDEN_VERSION 0x8000 /* of DT_VERSYM: not the default one */

const struct link_map *elf_object_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

const struct link_map *elf_own(void)
{
    static const struct link_map *own;
    const struct link_map *found = __atomic_load_n(&own, __ATOMIC_RELAXED);
    if (!found) {
        found = elf_object_of((void *)elf_own);
        __atomic_store_n(&own, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* glibc adds the base to the addresses in dynamic sections that it may write to; the kernel's vDSO is not such. */
static uintptr_t in_memory(const struct elf_object *object, uintptr_t value)
{
    return value < object->base ? value + object->base : value;
}

uintptr_t elf_entry(const struct elf_object *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return in_memory(object, entry->d_un.d_ptr);
    return 0;
}

static const char *string_at(const struct elf_object *object, size_t offset)
{
    const char *strings = (const char *)elf_entry(object, DT_STRTAB);
    return strings ? strings + offset : "";
}

const char *elf_soname(const struct elf_object *object)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            return string_at(object, entry->d_un.d_val);
    return "";
}

int elf_needs_version(const struct elf_object *object, const char *prefix)
{
    const ElfW(Verneed) *need = (const void *)elf_entry(object, DT_VERNEED);
    while (need) {
        const ElfW(Vernaux) *version = (const void *)((const char *)need + need->vn_aux);
        for (unsigned i = 0; i < need->vn_cnt; i++) {
            if (!strncmp(string_at(object, version->vna_name), prefix, strlen(prefix)))
                return 1;
            version = (const void *)((const char *)version + version->vna_next);
        }
        need = need->vn_next ? (const void *)((const char *)need + need->vn_next) : NULL;
    }
    return 0;
}

const char *elf_symbol(const struct elf_object *object, uint32_t index, const ElfW(Sym) * *symbol)
{
    *symbol = (const ElfW(Sym) *)elf_entry(object, DT_SYMTAB) + index;
    return string_at(object, (*symbol)->st_name);
}

static void *defined(const struct elf_object *object, uint32_t index, const char *name)
{
    const ElfW(Sym) * symbol;
    const ElfW(Half) *versions = (const void *)elf_entry(object, DT_VERSYM);
    if (strcmp(elf_symbol(object, index, &symbol), name) || symbol->st_shndx == SHN_UNDEF ||
        (versions && versions[index] & HIDDEN_VERSION))
        return NULL;
    return (void *)(object->base + symbol->st_value);
}

/* The hash of DT_GNU_HASH is Bernstein's. */
static void *find_by_gnu_hash(const struct elf_object *object, const uint32_t *table, const char *name)
{
    uint32_t hash = 5381, buckets = table[0], first = table[1], bloom = table[2];
    const uint32_t *bucket = table + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof *table), *chain = bucket + buckets;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        hash = hash * 33 + *at;
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    if (index < first || !index)
        return NULL;
    for (;; index++) {
        uint32_t here = chain[index - first];
        void *found = (here | 1) == (hash | 1) ? defined(object, index, name) : NULL;
        if (found || here & 1)
            return found;
    }
}

static void *find_by_old_hash(const struct elf_object *object, const uint32_t *table, const char *name)
{
    uint32_t hash = 0, buckets = table[0];
    const uint32_t *bucket = table + 2, *chain = bucket + buckets;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
        hash = (hash << 4) + *at;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    for (uint32_t index = buckets ? bucket[hash % buckets] : 0; index; index = chain[index]) {
        void *found = defined(object, index, name);
        if (found)
            return found;
    }
    return NULL;
}

void *elf_find(const struct elf_object *object, const char *name)
{
    const uint32_t *gnu = (const void *)elf_entry(object, DT_GNU_HASH), *old = (const void *)elf_entry(object, DT_HASH);
    return gnu ? find_by_gnu_hash(object, gnu, name) : old ? find_by_old_hash(object, old, name) : NULL;
}
