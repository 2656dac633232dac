/* One line on standard error, in one write, without stdio (the job may be inside it). */
#include "control.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void control_log(const char *format, ...)
{
    char line[1024];
    int saved = errno, used;
    int rank = control.rank >= 0 ? control.rank : control.started_rank;
    if (rank >= 0)
        used = snprintf(line, sizeof line, "udckpt: rank %d: ", rank);
    else
        used = snprintf(line, sizeof line, "udckpt: ");
    va_list arguments;
    va_start(arguments, format);
    used += vsnprintf(line + used, sizeof line - used, format, arguments);
    va_end(arguments);
    if (used > (int)sizeof line - 2)
        used = sizeof line - 2;
    for (char *at = line; at < line + used; at++) /* names in it are somebody's choice, and terminals obey them */
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; /* there is nowhere else to say it */
    errno = saved;
}
