#include "lower_device.h"
#include "common/environment.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64 }; /* of all devices together; as in MSG_REBUILD */
#define SOFT "soft0"

const struct verbs_device *lower_device = &soft_device;
static char only[NAME]; /* empty: any */

/* A file of sysfs: "4: ACTIVE" (Documentation/ABI/stable/sysfs-class-infiniband). */
static int is_active(const char *path)
{
    char state[16] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t got = fread(state, 1, sizeof state - 1, file);
    fclose(file);
    return got > 0 && state[0] == '4';
}

static int has_active_device(void)
{
    glob_t ports;
    int active = 0;
    if (glob("/sys/class/infiniband/*/ports/*/state", GLOB_NOSORT, NULL, &ports))
        return 0;
    for (size_t i = 0; i < ports.gl_pathc && !active; i++)
        active = is_active(ports.gl_pathv[i]);
    globfree(&ports);
    return active;
}

int lower_device_is_soft(const char *wanted)
{
    return !wanted || !*wanted || !strcmp(wanted, "soft") || (strcmp(wanted, "auto") && strlen(wanted) >= sizeof only);
}

void lower_device_choose(void)
{
    const char *wanted = environment_get("UDCKPT_DEVICE");
    if (!wanted || !*wanted || !strcmp(wanted, "soft"))
        lower_device = &soft_device;
    else if (!strcmp(wanted, "auto"))
        lower_device = has_active_device() ? &real_device : &soft_device;
    else if (strlen(wanted) < sizeof only) {
        lower_device = &real_device;
        strcpy(only, wanted);
    } else
        fprintf(stderr,
                "udckpt: UDCKPT_DEVICE=%s is not valid: expected soft, auto or device names joined by +, "
                "of at most %d characters\n",
                wanted, NAME - 1);
}

const char *lower_device_name(void)
{
    return only[0] ? only : NULL;
}

int lower_device_switch(const char *name)
{
    if (strlen(name) >= sizeof only)
        return ENAMETOOLONG;
    if (!strcmp(name, SOFT)) {
        lower_device = &soft_device;
        only[0] = 0;
    } else {
        lower_device = &real_device;
        strcpy(only, name);
    }
    return 0;
}
