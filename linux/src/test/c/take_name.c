// The stranger's half of a race: makes a name as soon as it is free, over and over, until its standard input ends.
//
//   take_name NAME TARGET DIRECTORY
//
// NAME becomes a symbolic link to TARGET; with TARGET "-" an empty file that everybody may read and write. It waits for
// something to happen in DIRECTORY (inotify(7)), so that it falls between the look and the use of whoever works there.
// Prints how often it was first when it ends; what it has made stays.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static int take(const char *name, const char *target)
{
    if (strcmp(target, "-"))
        return symlink(target, name) == 0;
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return 0;
    fchmod(fd, 0666);
    close(fd);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: take_name NAME TARGET DIRECTORY\n");
        return 64;
    }
    int events = inotify_init1(IN_NONBLOCK);
    if (events < 0 || inotify_add_watch(events, argv[3], IN_ALL_EVENTS) < 0) {
        perror(argv[3]);
        return 1;
    }
    long first = 0;
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {events, POLLIN, 0}};
        if (poll(waits, 2, -1) < 0)
            return 1;
        if (waits[0].revents)
            break;
        char drop[4096];
        while (read(events, drop, sizeof drop) > 0) {
        }
        first += take(argv[1], argv[2]);
    }
    printf("%ld\n", first);
    return 0;
}
