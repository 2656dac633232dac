/* At load. Nothing is connected here: most processes of a job (a shell's commands, a
 * program's helpers) never open a device, and a job may start and end them faster than an agent could ask them. */
#include "control.h"
#include <stdlib.h>
#include <string.h>

struct control control = {.rank = -1, .fd = -1};

static int rank_from_environment(void)
{
    const char *text = getenv("UDCKPT_RANK");
    char *end;
    if (!text || !*text)
        return -1;
    long rank = strtol(text, &end, 10);
    if (*end || rank < 0 || rank > INT32_MAX) {
        control_log("UDCKPT_RANK=\"%s\" is not a rank", text);
        return -1;
    }
    return (int)rank;
}

__attribute__((constructor(102))) static void start(void)
{
    const char *directory = getenv("UDCKPT_RUNTIME_DIR");
    control.rank = rank_from_environment();
    if (!directory || !*directory)
        return;
    if (strlen(directory) >= sizeof control.named_dir) {
        control_log("UDCKPT_RUNTIME_DIR=%s is longer than %zu bytes; this process runs without checkpoints", directory,
                    sizeof control.named_dir - 1);
        return;
    }
    strcpy(control.named_dir, directory);
}
