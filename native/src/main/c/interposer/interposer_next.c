/* Functions of other libraries that this one takes over by their names alone. A program may have another function of
 * such a name: what its caller would have got without this library is called then. */
#include "interposer_loader.h"

/* The caller's own scope counts where it, or the library that it is linked with, was opened with RTLD_LOCAL. */
void *interposer_next(const char *name, const void *caller)
{
    void *found = loader_next()->dlsym(RTLD_NEXT, name);
    const struct link_map *map = found ? NULL : elf_object_of(caller);
    void *scope =
        map && map->l_name && *map->l_name ? loader_next()->dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (scope) {
        found = loader_next()->dlsym(scope, name);
        dlclose(scope);
    }
    dlerror(); /* a name that is not there is no error of the program's */
    return found;
}
