#include "real_library.h"
#include "agent-client/control.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

__thread int real_inside;

static struct real_library library;
static const struct real_library *found;
static const struct real_loader *loader;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A look-up through the library's own handle does not see us, who are in front of it in the global order only
 * (dlsym(3)). The version pins the layout of the structs that we were compiled with. */
static int take(const struct real_loader *by, void *handle, const char *name, const char *version, void **function)
{
    *function = by->symbol(handle, name, version);
    if (!*function)
        control_log("libibverbs.so.1 has no %s of version %s: only the soft fabric works (UDCKPT_DEVICE=soft)", name,
                    version);
    return !*function;
}

static void load(void)
{
    const struct real_loader *by = __atomic_load_n(&loader, __ATOMIC_ACQUIRE);
    real_inside++; /* its constructors may open devices */
    void *handle = by->open("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    real_inside--;
    if (!handle) {
        control_log("%s: only the soft fabric works (UDCKPT_DEVICE=soft; Debian: apt-get install libibverbs1)",
                    dlerror());
        return;
    }
    int missing = 0;
#define X(name, version) missing += take(by, handle, #name, version, (void **)&library.name);
    REAL_FUNCTIONS(X)
    REAL_PRIVATE_FUNCTIONS(X)
#undef X
    if (!missing)
        found = &library;
}

void real_library_by(const struct real_loader *chosen)
{
    __atomic_store_n(&loader, chosen, __ATOMIC_RELEASE);
}

const struct real_library *real_library(void)
{
    pthread_once(&once, load);
    if (!found)
        errno = ENOSYS;
    return found;
}
