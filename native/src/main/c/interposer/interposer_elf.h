/* What a loaded object says of itself in its dynamic section (elf(5)): for look-ups that need no handle, no lock and no
 * memory, and leave dlerror(3) as it is. */
#pragma once
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct elf_object {
    uintptr_t base; /* what is added to the addresses in its file */
    const ElfW(Dyn) * dynamic;
};

static inline struct elf_object elf_object(const struct link_map *map)
{
    return (struct elf_object){map->l_addr, map->l_ld};
}

/* The object that holds an address, in whatever namespace; NULL: none does. */
const struct link_map *elf_object_of(const void *address);
/* This library. */
const struct link_map *elf_own(void);
/* A function or datum that the object defines and exports, of its default version; NULL: none. */
void *elf_find(const struct elf_object *object, const char *name);
/* The value of the first entry of a kind, as an address in memory; 0: it has none. */
uintptr_t elf_entry(const struct elf_object *object, ElfW(Sxword) tag);
/* DT_SONAME, or "". */
const char *elf_soname(const struct elf_object *object);
/* Whether it needs a version of another object whose name begins so. */
int elf_needs_version(const struct elf_object *object, const char *prefix);
/* A symbol of its table, and its name. */
const char *elf_symbol(const struct elf_object *object, uint32_t index, const ElfW(Sym) * *symbol);
