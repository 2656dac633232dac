/* Runs a program that was linked as a shared object, as a plugin of this one, which knows nothing of verbs:
 *
 *     as_plugin PROGRAM.so [ARGUMENT...]
 *
 * It is opened with a scope of its own (RTLD_DEEPBIND), in which libibverbs comes before everything that is preloaded;
 * its instructions are counted beside those of the same program as a program (bench/overhead). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*program)(int, char **);
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
    if (!plugin || !(program = (int (*)(int, char **))dlsym(plugin, "main"))) {
        fprintf(stderr, "as_plugin: %s\n", argc > 1 ? dlerror() : "usage: as_plugin PROGRAM.so [ARGUMENT...]");
        return 64;
    }
    return program(argc - 1, argv + 1);
}
