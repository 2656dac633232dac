/* What a plugin's own functions give that have names of libaio's and liburing's: opened as plugins are, for itself
 * only, and for all. */
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *plugin, int mode)
{
    void *handle = dlopen(plugin, mode);
    long (*sum)(void) = handle ? (long (*)(void))dlsym(handle, "plugin_sum") : NULL;
    if (!sum) {
        puts(dlerror());
        return 1;
    }
    printf("%ld\n", sum());
    return dlclose(handle);
}

int main(int argc, char **argv)
{
    return argc != 2 || call(argv[1], RTLD_NOW | RTLD_LOCAL) || call(argv[1], RTLD_LAZY | RTLD_GLOBAL);
}
