/* dlopen(3) and dlmopen(3). With RTLD_DEEPBIND an object sees the libraries that it brings before those that were
 * there: its calls of verbs would pass us by, and are led back (interposer_rebind.c). What is opened in a namespace of
 * its own cannot be led here, where the C library is another one; verbs in there are said to be not supported. All
 * other calls go on as they are. */
#include "interposer_loader.h"
#include "interposer_rebind.h"
#include "real-device/real_library.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the C library looks after what a caller's own path names; what only these have is found there by itself. */
static int is_default(const char *directory)
{
    static const char *const names[] = {
        "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(directory, names[i]))
            return 1;
    return 0;
}

static int is_in(const Dl_serpath *directory, const char *file, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/%s", directory->dls_name, file);
    return length > 0 && (size_t)length < size && !is_default(directory->dls_name) && !access(path, R_OK);
}

/* We are the caller of what is behind us, so a caller with a search path of its own (DT_RUNPATH) has its file looked
 * for here. Returns the name by which to open it. */
static const char *searched(const struct link_map *caller, const char *file, char *path, size_t size)
{
    Dl_serinfo bytes, *list;
    const char *found = file;
    struct elf_object object = elf_object(caller);
    if (!file || strchr(file, '/') || (!elf_entry(&object, DT_RUNPATH) && !elf_entry(&object, DT_RPATH)))
        return file;
    if (dlinfo((void *)caller, RTLD_DI_SERINFOSIZE, &bytes) || !(list = malloc(bytes.dls_size)))
        return file;
    if (!dlinfo((void *)caller, RTLD_DI_SERINFOSIZE, list) && !dlinfo((void *)caller, RTLD_DI_SERINFO, list))
        for (unsigned i = 0; i < list->dls_cnt && found == file; i++)
            if (is_in(&list->dls_serpath[i], file, path, size))
                found = path;
    free(list);
    return found;
}

/* Whether a call goes on as it is: nothing new comes, it is none of ours, or ($ORIGIN) it only makes sense for its
 * caller. */
static int goes_on(const char *file, int mode, const struct link_map *caller)
{
    return real_inside || !caller || !file || !*file || mode & RTLD_NOLOAD || strchr(file, '$') ||
           loader_is_beneath(caller);
}

__attribute__((visibility("hidden"))) struct answer interposer_dlopen(const char *file, int mode, const void *address)
{
    char path[PATH_MAX];
    if (__builtin_expect(!(mode & RTLD_DEEPBIND), 1))
        return (struct answer){.instead = loader_next()->dlopen};
    const struct link_map *caller = elf_object_of(address);
    if (goes_on(file, mode, caller))
        return (struct answer){.instead = loader_next()->dlopen};
    const void *last = rebind_last();
    void *handle = loader_next()->dlopen(searched(caller, file, path, sizeof path), mode);
    if (handle)
        rebind_after(last);
    return (struct answer){.value = handle};
}

static int has_verbs(const struct link_map *map)
{
    while (map->l_prev)
        map = map->l_prev;
    for (; map; map = map->l_next) {
        struct elf_object object = elf_object(map);
        if (loader_is_verbs(&object))
            return 1;
    }
    return 0;
}

struct space {
    const struct link_map *map;
    int has_verbs;
};

static void look(void *data)
{
    struct space *space = data;
    space->has_verbs = has_verbs(space->map);
}

__attribute__((visibility("hidden"))) struct answer interposer_dlmopen(Lmid_t space, const char *file, int mode,
                                                                       const void *address)
{
    char path[PATH_MAX];
    int error = errno;
    const struct link_map *caller = elf_object_of(address);
    if (space == LM_ID_BASE || goes_on(file, mode, caller))
        return (struct answer){.instead = loader_next()->dlmopen};
    void *handle = loader_next()->dlmopen(space, searched(caller, file, path, sizeof path), mode);
    struct space other = {.map = handle};
    if (handle)
        loader_locked(look, &other);
    if (other.has_verbs) {
        interposer_refuse("libibverbs in its own namespace (dlmopen)",
                          "callers there see only the machine's devices, and cannot be checkpointed while they "
                          "use one; use dlopen");
        errno = error;
    }
    return (struct answer){.value = handle};
}
