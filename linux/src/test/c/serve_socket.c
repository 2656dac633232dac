// A server of somebody else: listens at NAME, which everybody may connect to, and answers each connection with a byte,
// until its standard input ends. A name that begins with '@' is an abstract one.
//
//   serve_socket NAME
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: serve_socket NAME\n");
        return 64;
    }
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    strncpy(own.sun_path, argv[1], sizeof own.sun_path - 1);
    socklen_t length = sizeof own;
    if (own.sun_path[0] == '@') {
        length = offsetof(struct sockaddr_un, sun_path) + strlen(own.sun_path);
        own.sun_path[0] = 0;
    } else
        unlink(argv[1]); // what stood there before, if its directory permits that
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&own, length) || listen(server, 16)) {
        perror(argv[1]);
        return 1;
    }
    if (own.sun_path[0])
        chmod(argv[1], 0777);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {server, POLLIN, 0}};
        if (poll(waits, 2, -1) < 0)
            return 1;
        if (waits[0].revents)
            return 0;
        int client = accept(server, NULL, NULL);
        if (client >= 0) {
            if (write(client, "!", 1) != 1)
                perror("answer");
            close(client);
        }
    }
}
