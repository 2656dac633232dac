/* getenv(3) for the job: environment_get(), which knows the variables of `restart --env`. */
#include "interposer.h"
#include "common/environment.h"
#include <stdlib.h>
#include <sys/auxv.h>

EXPORT char *getenv(const char *name)
{
    return environment_get(name);
}

EXPORT char *secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : environment_get(name);
}
