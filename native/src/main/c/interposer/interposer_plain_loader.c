/* Only in a build with sanitizers, which takes over none of the functions of dlfcn.h (native/cmake/library.cmake). */
#include "interposer_loader.h"

const struct loader *loader_next(void)
{
    static const struct loader real = {dlsym, dlvsym, dlopen, dlmopen};
    return &real;
}
