/* A verbs client that is not linked with libibverbs. It exchanges datagrams with itself over functions that it finds in
 * one of these ways:
 *
 *     found_client WAY FINISH       until the file FINISH is there; then it prints "PASS" and how many
 *     found_client where LIBRARY    no verbs: reads names, prints the file that holds what dlsym(3) finds of each
 *     found_client errors           no verbs: what is not there is not found, and dlerror(3) says so
 *     found_client plain            no verbs: prints what the functions of dlfcn.h give, the same without the library
 *
 * FOUND_LIBRARY, FOUND_PLUGIN: other names of libibverbs.so.1 and of the plugin. */
#define _GNU_SOURCE
#include "found_verbs.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *library = "libibverbs.so.1", *plugin = "libfound_plugin.so";

static void *must(void *found, const char *what)
{
    if (!found) {
        fprintf(stderr, "found_client: %s: %s\n", what, dlerror());
        exit(2);
    }
    return found;
}

static void *open_library(int mode)
{
    return must(dlopen(library, mode), library);
}

static void *from_plugin(int mode, const char *function)
{
    return must(dlsym(must(dlopen(plugin, mode), plugin), function), function);
}

static void by_plugin(struct found_verbs *verbs, int mode)
{
    ((void (*)(struct found_verbs *))from_plugin(mode, "plugin_verbs"))(verbs);
}

#define EACH(lookup) \
    do { \
        FOUND_VERBS(lookup) \
    } while (0)

static void find(const char *way, struct found_verbs *verbs)
{
    void *handle = NULL;
#define BY_NAME(name, version) verbs->name = must(dlsym(handle, #name), #name);
#define BY_VERSION(name, version) verbs->name = must(dlvsym(handle, #name, version), #name);
#define IN_PLUGIN(name, version) verbs->name = must(lookup(handle, #name), #name);
    void *(*lookup)(void *, const char *) = NULL;
    if (!strcmp(way, "dlsym")) {
        handle = open_library(RTLD_NOW | RTLD_LOCAL);
        EACH(BY_NAME);
    } else if (!strcmp(way, "dlvsym")) {
        handle = open_library(RTLD_NOW | RTLD_LOCAL);
        EACH(BY_VERSION);
    } else if (!strcmp(way, "deepbind")) {
        handle = open_library(RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
        EACH(BY_NAME);
    } else if (!strcmp(way, "plugin")) {
        by_plugin(verbs, RTLD_NOW | RTLD_LOCAL);
    } else if (!strcmp(way, "plugin-deepbind")) {
        by_plugin(verbs, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    } else if (!strcmp(way, "plugin-deepbind-lazy")) {
        by_plugin(verbs, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    } else if (!strcmp(way, "plugin-handle")) { /* found in a library that the handle's own needs */
        handle = must(dlopen(plugin, RTLD_NOW | RTLD_LOCAL), plugin);
        EACH(BY_NAME);
    } else if (!strcmp(way, "default")) {
        open_library(RTLD_NOW | RTLD_GLOBAL);
        handle = RTLD_DEFAULT;
        EACH(BY_NAME);
    } else if (!strcmp(way, "next")) {
        open_library(RTLD_NOW | RTLD_GLOBAL);
        handle = RTLD_NEXT;
        EACH(BY_NAME);
    } else if (!strcmp(way, "plugin-next")) {
        lookup = from_plugin(RTLD_NOW | RTLD_LOCAL, "plugin_find");
        handle = RTLD_NEXT;
        EACH(IN_PLUGIN);
    } else if (!strcmp(way, "plugin-default-deepbind")) {
        lookup = from_plugin(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, "plugin_find");
        handle = RTLD_DEFAULT;
        EACH(IN_PLUGIN);
    } else if (!strcmp(way, "dlmopen")) {
        handle = must(dlmopen(LM_ID_NEWLM, library, RTLD_NOW | RTLD_LOCAL), library);
        EACH(BY_NAME);
    } else if (!strcmp(way, "plugin-dlmopen")) { /* out of reach: sees no device */
        handle = must(dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW | RTLD_LOCAL), plugin);
        ((void (*)(struct found_verbs *))must(dlsym(handle, "plugin_verbs"), "plugin_verbs"))(verbs);
    } else {
        fprintf(stderr, "found_client: no way is called %s\n", way);
        exit(64);
    }
}

static const char *file_of(const void *address)
{
    Dl_info info;
    const char *slash = dladdr(address, &info) ? strrchr(info.dli_fname, '/') : NULL;
    return slash ? slash + 1 : "nothing";
}

static int where(const char *name)
{
    char line[256];
    void *handle = must(dlopen(name, RTLD_NOW | RTLD_LOCAL), name);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        void *found = dlsym(handle, line);
        printf("%s %s\n", line, found ? file_of(found) : "missing");
    }
    return 0;
}

static void expect(void *found, void *expected, const char *what)
{
    const char *error = dlerror();
    if (found == expected && !error == (found != NULL))
        return;
    fprintf(stderr, "found_client: %s: %p, %s\n", what, found, error ? error : "no error");
    exit(1);
}

/* A name that no library has, a version that there is not, a handle of another library; what comes after an error is
 * told without it. */
static int errors(void)
{
    void *handle = open_library(RTLD_NOW | RTLD_LOCAL), *other = must(dlopen("libm.so.6", RTLD_NOW), "libm.so.6");
    expect(dlsym(handle, "ibv_no_such_function"), NULL, "a name that is not there");
    expect(dlsym(RTLD_DEFAULT, "ibv_no_such_function"), NULL, "a name that is nowhere");
    expect(dlvsym(handle, "ibv_open_device", "IBVERBS_77.7"), NULL, "a version that is not there");
    expect(dlsym(other, "ibv_open_device"), NULL, "another library's function");
    void *device = dlsym(handle, "ibv_open_device");
    expect(device, device ? device : (void *)1, "what is there");
    expect(dlvsym(handle, "ibv_open_device", "IBVERBS_1.1"), device, "by its version");
    expect(dlvsym(handle, "ibv_open_device", "IBVERBS_1.0"), device, "by its first version");
    void *(*find_in_plugin)(void *, const char *) = from_plugin(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, "plugin_find");
    expect(find_in_plugin(RTLD_DEFAULT, "ibv_open_device"), device, "in an object with a scope of its own");
    const void *(*getenv_there)(void) = from_plugin(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, "plugin_getenv");
    expect((void *)getenv_there(), dlsym(RTLD_DEFAULT, "getenv"), "a function of the C library in such an object");
    puts("PASS");
    return 0;
}

static void show(const char *what, const void *found)
{
    const char *error = dlerror();
    printf("%s: %s%s%s\n", what, found ? file_of(found) : "nothing", error ? ", " : "", error ? error : "");
}

static void show_handle(const char *what, void *handle)
{
    struct link_map *map = handle;
    const char *error = dlerror(), *slash = handle ? strrchr(map->l_name, '/') : NULL;
    printf("%s: %s%s%s\n", what,
           !handle ? "nothing"
           : slash ? slash + 1
                   : map->l_name,
           error ? ", " : "", error ? error : "");
}

/* glibc asks by its return address who calls: RTLD_NEXT, the search path, $ORIGIN. */
static int plain(void)
{
    static const int modes[] = {RTLD_LAZY,
                                RTLD_NOW | RTLD_GLOBAL,
                                RTLD_LAZY | RTLD_DEEPBIND,
                                RTLD_LAZY | RTLD_NOLOAD,
                                RTLD_LAZY | RTLD_DEEPBIND | RTLD_NOLOAD,
                                0,
                                -1};
    static const char *const files[] = {"libfound_plugin.so",
                                        "$ORIGIN/libfound_plugin.so",
                                        "libm.so.6",
                                        "libno-such-library.so",
                                        "./no such file",
                                        "/dev/null",
                                        "",
                                        NULL};
    char what[128];
    for (unsigned f = 0; f < sizeof files / sizeof *files; f++)
        for (unsigned m = 0; m < sizeof modes / sizeof *modes; m++) {
            snprintf(what, sizeof what, "dlopen(%s, %d)", files[f] ? files[f] : "NULL", modes[m]);
            show_handle(what, dlopen(files[f], modes[m]));
        }
    void *c = dlopen("libc.so.6", RTLD_NOW), *m = dlopen("libm.so.6", RTLD_NOW);
    static const char *const names[] = {"cos",
                                        "malloc",
                                        "memcpy",
                                        "open",
                                        "getenv",
                                        "main",
                                        "no_such_function",
                                        "",
                                        "ibv",
                                        "ibv_",
                                        "rdma_no_such_function"};
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
        void *(*find_in_plugin)(void *, const char *) = from_plugin(RTLD_NOW, "plugin_find");
        snprintf(what, sizeof what, "dlsym(%s)", names[n]);
        show(what, dlsym(c, names[n]));
        show(what, dlsym(m, names[n]));
        if (strcmp(names[n], "open") && strcmp(names[n], "getenv")) { /* which the library takes over */
            show(what, dlsym(RTLD_DEFAULT, names[n]));
            show(what, dlsym(RTLD_NEXT, names[n]));
            show(what, find_in_plugin(RTLD_DEFAULT, names[n]));
            show(what, find_in_plugin(RTLD_NEXT, names[n]));
        }
        show(what, dlvsym(c, names[n], "GLIBC_2.2.5"));
        show(what, dlvsym(c, names[n], "GLIBC_77"));
    }
    void *other = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
    Lmid_t space = LM_ID_BASE;
    show_handle("dlmopen of a new one", other);
    printf("%d %d %s\n", other != m, dlinfo(other, RTLD_DI_LMID, &space), space == LM_ID_BASE ? "here" : "elsewhere");
    show_handle("dlmopen of another", dlmopen(space, "libc.so.6", RTLD_NOW));
    show_handle("dlmopen in the first one", dlmopen(LM_ID_BASE, "libm.so.6", RTLD_NOW));
    show_handle("dlmopen of what is not there", dlmopen(LM_ID_NEWLM, "libno-such-library.so", RTLD_NOW));
    show_handle("dlmopen in none", dlmopen(77, "libm.so.6", RTLD_NOW));
    return 0;
}

int main(int argc, char **argv)
{
    struct found_verbs verbs;
    if (getenv("FOUND_LIBRARY"))
        library = getenv("FOUND_LIBRARY");
    if (getenv("FOUND_PLUGIN"))
        plugin = getenv("FOUND_PLUGIN");
    if (argc == 3 && !strcmp(argv[1], "where"))
        return where(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "errors"))
        return errors();
    if (argc == 2 && !strcmp(argv[1], "plain"))
        return plain();
    if (argc != 3) {
        fprintf(stderr, "usage: found_client WAY FINISH | where LIBRARY | errors | plain\n");
        return 64;
    }
    find(argv[1], &verbs);
    printf("PASS %ld\n", found_exchange(&verbs, argv[2]));
    return 0;
}
