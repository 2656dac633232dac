// The stranger's half of a race: as soon as somebody makes NAME in DIRECTORY, it becomes a symbolic link to TARGET
// instead, until his standard input ends.
//
//   replace_name DIRECTORY NAME TARGET
//
// Prints how often he did it when it ends.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4 || chdir(argv[1])) {
        fprintf(stderr, "usage: replace_name DIRECTORY NAME TARGET\n");
        return 64;
    }
    int events = inotify_init1(IN_NONBLOCK);
    if (events < 0 || inotify_add_watch(events, ".", IN_CREATE | IN_MOVED_TO) < 0) {
        perror(argv[1]);
        return 1;
    }
    long times = 0;
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {events, POLLIN, 0}};
        if (poll(waits, 2, -1) < 0)
            return 1;
        if (waits[0].revents)
            break;
        char buffer[4096] __attribute__((aligned(8)));
        ssize_t n = read(events, buffer, sizeof buffer);
        for (char *at = buffer; n > 0 && at < buffer + n;) {
            struct inotify_event *event = (struct inotify_event *)at;
            if (event->len && !strcmp(event->name, argv[2]) && !symlink(argv[3], "evil-link") &&
                !rename("evil-link", argv[2]))
                times++;
            at += sizeof *event + event->len;
        }
    }
    printf("%ld\n", times);
    return 0;
}
