/* dlsym(3) and dlvsym(3): clients that open libibverbs or librdmacm by themselves (MVAPICH2, NCCL, Gloo, bindings of
 * other languages) get the functions that those get who are linked with them. What glibc finds is exchanged when it
 * lies in one of the two libraries, whatever handle, version and namespace led there; only the real libraries, their
 * providers and this library get the real ones. */
#include "interposer_loader.h"
#include "real-device/real_library.h"
#include <stdio.h>
#include <string.h>

#define NEXT_FUNCTIONS(X) X(dlsym) X(dlvsym) X(dlopen) X(dlmopen)

static struct loader next;

static void find_next(void *unused)
{
#define X(function) \
    for (const struct link_map *map = elf_own()->l_next; map && !next.function; map = map->l_next) { \
        struct elf_object object = elf_object(map); \
        __atomic_store_n((void **)&next.function, elf_find(&object, #function), __ATOMIC_RELEASE); \
    }
    NEXT_FUNCTIONS(X)
#undef X
}

static int locked_call(struct dl_phdr_info *info, size_t size, void *call)
{
    void **parts = call;
    ((void (*)(void *))parts[0])(parts[1]);
    return 1;
}

/* dl_iterate_phdr(3) holds the lock of the list while it calls. */
void loader_locked(void (*function)(void *), void *data)
{
    dl_iterate_phdr(locked_call, (void *[]){(void *)function, data});
}

const struct loader *loader_next(void)
{
    void *last = __atomic_load_n((void **)&next.dlmopen, __ATOMIC_ACQUIRE); /* that find_next() sets */
    if (__builtin_expect(!last, 0))
        loader_locked(find_next, NULL);
    return &next;
}

int loader_is_verbs(const struct elf_object *object)
{
    static const char *const names[] = {"libibverbs.so", "librdmacm.so"};
    const char *name = elf_soname(object);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return 1;
    return 0;
}

/* A provider is known by the versions of libibverbs that it needs: those have functions for providers alone. */
int loader_is_beneath(const struct link_map *map)
{
    if (!map || map == elf_own())
        return map != NULL;
    struct elf_object object = elf_object(map);
    return loader_is_verbs(&object) || elf_needs_version(&object, "IBVERBS_PRIVATE_");
}

/* Whether a function that this library does not define is harmless: it touches no device, or only drivers call it. */
static int is_harmless(const char *name)
{
    static const char *const beginnings[] = {"ibv_cmd_", "ibv_copy_", "ibv_rate_to_", "ibv_register_driver"};
    static const char *const names[] = {"ibv_event_type_str",       "ibv_node_type_str",  "ibv_port_state_str",
                                        "ibv_wc_status_str",        "ibv_get_sysfs_path", "ibv_read_sysfs_file",
                                        "ibv_read_ibdev_sysfs_file"};
    for (unsigned i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
            return 1;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

static void *ours(const char *name)
{
    struct elf_object own = elf_object(elf_own());
    return elf_find(&own, name);
}

/* Whether it may be a function of the two libraries. Most names are not, and cost no more than this. */
static int is_candidate(const char *name)
{
    return !strncmp(name, "ibv_", 4) || !strncmp(name, "_ibv_", 5) || !strncmp(name, "rdma_", 5) || ours(name);
}

static void *find_real(void *handle, const char *name, const char *version)
{
    return version ? loader_next()->dlvsym(handle, name, version) : loader_next()->dlsym(handle, name);
}

/* By a handle, where glibc does not ask who calls. A function of a newer library than ours is as if it were not there,
 * since it would not know our objects: who finds functions by name can do without the newest ones. */
static void *find_by_handle(void *handle, const char *name, const char *version)
{
    void *found = find_real(handle, name, version);
    const struct link_map *map = found ? elf_object_of(found) : NULL;
    struct elf_object object = map ? elf_object(map) : (struct elf_object){0};
    if (!map || !loader_is_verbs(&object))
        return found;
    void *own = ours(name);
    if (own || is_harmless(name))
        return own ? own : found;
    char unknown[256];
    snprintf(unknown, sizeof unknown, "%s, which is unknown to udckpt", name); /* for dlerror(3) */
    return find_real(handle, unknown, NULL);
}

struct search {
    const char *name;
    const struct link_map *after; /* NULL: from the first one on */
    const struct link_map *found;
};

static void find_first(void *data)
{
    struct search *search = data;
    const struct link_map *map = search->after ? search->after->l_next : elf_own();
    while (!search->after && map->l_prev)
        map = map->l_prev;
    for (; map && !search->found; map = map->l_next) {
        struct elf_object object = elf_object(map);
        if (elf_find(&object, search->name))
            search->found = map;
    }
}

/* RTLD_DEFAULT, RTLD_NEXT: ours when the first to define it is one of the two libraries (RTLD_NEXT in an object behind
 * us), or this one, which a caller does not see that was opened with RTLD_DEEPBIND. NULL: glibc's answer stands. */
static void *find_in_order(void *handle, const char *name, const struct link_map *caller)
{
    struct search search = {.name = name, .after = handle == RTLD_NEXT ? caller : NULL};
    if (handle == RTLD_NEXT && !caller)
        return NULL;
    loader_locked(find_first, &search);
    if (!search.found)
        return NULL;
    struct elf_object object = elf_object(search.found);
    return loader_is_verbs(&object) || search.found == elf_own() ? ours(name) : NULL;
}

static struct answer look_up(void *handle, const char *name, const char *version, const void *address, void *instead)
{
    if (__builtin_expect(!is_candidate(name), 1) || real_inside)
        return (struct answer){.instead = instead};
    const struct link_map *caller = elf_object_of(address);
    if (loader_is_beneath(caller))
        return (struct answer){.instead = instead};
    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT)
        return (struct answer){.value = find_by_handle(handle, name, version)};
    void *found = find_in_order(handle, name, caller);
    return found ? (struct answer){.value = found} : (struct answer){.instead = instead};
}

__attribute__((visibility("hidden"))) struct answer interposer_dlsym(void *handle, const char *name, const void *caller)
{
    return look_up(handle, name, NULL, caller, loader_next()->dlsym);
}

__attribute__((visibility("hidden"))) struct answer interposer_dlvsym(void *handle, const char *name,
                                                                      const char *version, const void *caller)
{
    return look_up(handle, name, version, caller, loader_next()->dlvsym);
}
