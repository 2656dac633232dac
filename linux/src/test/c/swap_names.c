// The stranger's half of a race: exchanges two names, over and over, until the time is over or its standard input ends.
//
//   swap_names SECONDS NAME OTHER [DIRECTORY]
//
// With DIRECTORY each exchange waits for something to happen in it (inotify(7)), so that it falls between the look and
// the use of whoever works there. Prints the number of exchanges when it ends.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: swap_names SECONDS NAME OTHER [DIRECTORY]\n");
        return 64;
    }
    double end = now() + atof(argv[1]);
    int events = -1;
    if (argc > 4) {
        events = inotify_init1(IN_NONBLOCK);
        if (events < 0 || inotify_add_watch(events, argv[4], IN_ALL_EVENTS) < 0) {
            perror(argv[4]);
            return 1;
        }
    }
    long swaps = 0;
    printf("ready\n");
    fflush(stdout);
    while (now() < end) {
        struct pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {events, POLLIN, 0}};
        int n = poll(waits, events < 0 ? 1 : 2, events < 0 ? 0 : 100);
        if (n < 0 && errno != EINTR)
            return 1;
        if (waits[0].revents)
            break;
        if (events >= 0) {
            char drop[4096];
            if (!(waits[1].revents & POLLIN))
                continue;
            while (read(events, drop, sizeof drop) > 0) {
            }
        }
        if (renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE) == 0)
            swaps++;
    }
    printf("%ld\n", swaps);
    return 0;
}
