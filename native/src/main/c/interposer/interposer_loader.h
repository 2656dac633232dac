/* What the taken-over functions of dlfcn.h have in common. */
#pragma once
#include "interposer.h"
#include "interposer_elf.h"
#include <dlfcn.h>

/* What a function of ours answers: a value, or the function that is to be called in its place with the same arguments
 * and, because glibc looks at its return address, by the same caller (interposer_loader_entry.S). */
struct answer {
    void *value;
    void *instead; /* NULL: the value stands */
};

/* The real functions, behind ours. */
struct loader {
    void *(*dlsym)(void *handle, const char *name);
    void *(*dlvsym)(void *handle, const char *name, const char *version);
    void *(*dlopen)(const char *file, int mode);
    void *(*dlmopen)(Lmid_t space, const char *file, int mode);
};

const struct loader *loader_next(void);
/* Whether it is libibverbs or librdmacm. */
int loader_is_verbs(const struct elf_object *object);
/* Whether an object is, or holds to, the real libraries' side: themselves, their providers, and this library. */
int loader_is_beneath(const struct link_map *map);
/* Calls `function` with the list of objects locked. */
void loader_locked(void (*function)(void *), void *data);
