/* Functions under names that the oldest C library does not have (native/cmake/oldest-libc.cmake), for our objects and
 * those of libcrypto.a. The headers of newer ones make the compiler call them. Each product has them for itself. */
#include "common/system_calls.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Since 2.33. Before, each program had a function of its own, which called __fxstat. */
int fstat(int fd, struct stat *status)
{
    return (int)system_call(SYS_fstat, fd, (long)status, 0, 0, 0, 0);
}

/* Since 2.38: the functions of C23, which read binary numbers ("0b1") too. Ours read none. */
long old_strtol(const char *text, char **end, int base) __asm__("strtol");
unsigned long old_strtoul(const char *text, char **end, int base) __asm__("strtoul");
int old_vsscanf(const char *text, const char *format, va_list into) __asm__("__isoc99_vsscanf");

long __isoc23_strtol(const char *text, char **end, int base);
long __isoc23_strtol(const char *text, char **end, int base)
{
    return old_strtol(text, end, base);
}

long long __isoc23_strtoll(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base)
{
    return old_strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return old_strtoul(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return old_strtoul(text, end, base);
}

int __isoc23_sscanf(const char *text, const char *format, ...);
int __isoc23_sscanf(const char *text, const char *format, ...)
{
    va_list into;
    va_start(into, format);
    int found = old_vsscanf(text, format, into);
    va_end(into);
    return found;
}
