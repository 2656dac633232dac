#include "interposer_rebind.h"
#include "interposer_loader.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct added {
    const ElfW(Dyn) * last; /* the dynamic section of the last object that is not new; NULL: all are */
    int begun;
    const char *name; /* that is looked for, */
    int defined;      /* and that a new object has, which is none of the real libraries */
};

static struct elf_object object_of(const struct dl_phdr_info *info)
{
    struct elf_object object = {.base = info->dlpi_addr};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            object.dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return object;
}

/* Whether the object is new, as each is in the order of the list. */
static int is_new(struct added *added, const struct elf_object *object)
{
    int begun = added->begun || !added->last;
    added->begun = begun || object->dynamic == added->last;
    return begun;
}

static int take_last(struct dl_phdr_info *info, size_t size, void *last)
{
    struct elf_object object = object_of(info);
    if (object.dynamic)
        *(const ElfW(Dyn) **)last = object.dynamic;
    return 0;
}

const void *rebind_last(void)
{
    const ElfW(Dyn) *last = NULL;
    dl_iterate_phdr(take_last, &last);
    return last;
}

static int look_for(struct dl_phdr_info *info, size_t size, void *data)
{
    struct added *added = data;
    struct elf_object object = object_of(info);
    if (!is_new(added, &object) || !object.dynamic || loader_is_verbs(&object))
        return 0;
    added->defined = elf_find(&object, added->name) != NULL;
    return added->defined;
}

/* What the new objects bring of that name by themselves is theirs. */
static int is_theirs(const char *name, const ElfW(Dyn) * last)
{
    struct added search = {.last = last, .name = name};
    dl_iterate_phdr(look_for, &search);
    return search.defined;
}

static void rebind(const struct elf_object *object, const ElfW(Rela) * entry, const ElfW(Dyn) * last)
{
    const ElfW(Sym) * symbol;
    unsigned type = ELF64_R_TYPE(entry->r_info);
    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
        (type == R_X86_64_64 && entry->r_addend))
        return;
    const char *name = elf_symbol(object, ELF64_R_SYM(entry->r_info), &symbol);
    struct elf_object own = elf_object(elf_own());
    void *function = symbol->st_shndx == SHN_UNDEF && *name ? elf_find(&own, name) : NULL;
    void **slot = (void **)(object->base + entry->r_offset);
    if (function && __atomic_load_n(slot, __ATOMIC_RELAXED) != function && !is_theirs(name, last))
        __atomic_store_n(slot, function, __ATOMIC_RELEASE);
}

static size_t value_of(const struct elf_object *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    return 0;
}

static void rebind_table(const struct elf_object *object, ElfW(Sxword) table, ElfW(Sxword) bytes,
                         const ElfW(Dyn) * last)
{
    const ElfW(Rela) *entries = (const void *)elf_entry(object, table);
    for (size_t i = 0; entries && i < value_of(object, bytes) / sizeof *entries; i++)
        rebind(object, &entries[i], last);
}

/* What the dynamic linker has made read-only after it was done (PT_GNU_RELRO), in whole pages. */
static int protect(const struct dl_phdr_info *info, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = (info->dlpi_addr + part->p_vaddr) & -page,
                  end = (info->dlpi_addr + part->p_vaddr + part->p_memsz) & -page;
        if (part->p_type == PT_GNU_RELRO && end > start && mprotect((void *)start, end - start, protection))
            return -1;
    }
    return 0;
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct added *added = data;
    struct elf_object object = object_of(info);
    if (!is_new(added, &object) || !object.dynamic || loader_is_verbs(&object) ||
        elf_needs_version(&object, "IBVERBS_PRIVATE_"))
        return 0;
    if (protect(info, PROT_READ | PROT_WRITE)) {
        interposer_refuse("RTLD_DEEPBIND",
                          "the relocations of the opened library cannot be changed (mprotect(2)): it bypasses udckpt");
        return 0;
    }
    rebind_table(&object, DT_RELA, DT_RELASZ, added->last);
    if (value_of(&object, DT_PLTREL) == DT_RELA)
        rebind_table(&object, DT_JMPREL, DT_PLTRELSZ, added->last);
    protect(info, PROT_READ);
    return 0;
}

void rebind_after(const void *last)
{
    int error = errno;
    struct added added = {.last = last};
    dl_iterate_phdr(rebind_object, &added);
    if (!added.begun) { /* another thread has closed it meanwhile */
        added.last = NULL;
        dl_iterate_phdr(rebind_object, &added);
    }
    errno = error;
}
