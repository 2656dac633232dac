/* `restart --env NAME=VALUE`: a restored process has its old environment in its memory, and finds the new variables
 * when it asks for any. The old list and its strings stay where they are, for threads that are reading them. */
#define _GNU_SOURCE
#include "environment.h"
#include "udckpt_layout.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((visibility("default"))) struct udckpt_new_environment udckpt_new_environment;

/* Whether an entry of the environment is of the name with which `other` begins, up to its '='. */
static int same_name(const char *entry, const char *other)
{
    while (*entry && *entry != '=' && *entry == *other) {
        entry++;
        other++;
    }
    return *entry == '=' && *other == '=';
}

static int is_new(const char *entry, const char *text, const char *end)
{
    for (; text < end; text += strlen(text) + 1)
        if (same_name(entry, text))
            return 1;
    return 0;
}

/* By one thread; another one that asks in these microseconds still finds what was. Anywhere a program may ask, so
 * without malloc. */
static void take_new(void)
{
    uint64_t length = __atomic_exchange_n(&udckpt_new_environment.length, 0, __ATOMIC_ACQ_REL);
    size_t old = 0, count = 0, added = 0;
    char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    if (!length || length > sizeof udckpt_new_environment.text)
        return;
    while (now && now[old])
        old++;
    for (uint64_t i = 0; i < length; i++)
        added += !udckpt_new_environment.text[i];
    size_t room = (old + added + 1) * sizeof(char *);
    char **list = mmap(NULL, room + length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED) {
        __atomic_store_n(&udckpt_new_environment.length, length, __ATOMIC_RELEASE); /* perhaps the next time */
        return;
    }
    char *text = memcpy((char *)list + room, udckpt_new_environment.text, length), *end = text + length;
    for (size_t i = 0; i < old; i++)
        if (!is_new(now[i], text, end))
            list[count++] = now[i];
    for (char *at = text; at < end; at += strlen(at) + 1)
        list[count++] = at;
    /* a setenv(3) in between */
    if (!__atomic_compare_exchange_n(&environ, &now, list, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        munmap(list, room + length);
        __atomic_store_n(&udckpt_new_environment.length, length, __ATOMIC_RELEASE);
    }
}

/* As getenv(3): the C library's own has no hook, and to ask for it by dlsym(3) would be to ask before it can answer. */
char *environment_get(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&udckpt_new_environment.length, __ATOMIC_ACQUIRE) != 0, 0))
        take_new();
    char **list = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    if (!list) /* then the name is not read */
        return NULL;
    size_t length = strlen(name);
    if (!length)
        return NULL;
    for (; *list; list++)
        if (!strncmp(*list, name, length) && (*list)[length] == '=')
            return *list + length + 1;
    return NULL;
}
