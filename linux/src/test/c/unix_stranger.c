/* At a unix socket that file permissions do not keep it from. `connect PATH TEXT`: says TEXT and prints what is
 * answered within two seconds. `listen PATH READY`: listens, makes the file READY, prints what the first two who
 * connect say. Ends with 1 if that was anything. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns whether something came. */
static int hear(int fd, int milliseconds)
{
    char text[4096];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, milliseconds) != 1)
        return 0;
    ssize_t n = recv(fd, text, sizeof text, 0);
    if (n > 0)
        printf("heard %zd bytes: %.*s\n", n, (int)n, text);
    return n > 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 64;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, argv[2], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!strcmp(argv[1], "connect")) {
        if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
            perror("connect");
            return 69; /* then this was no test */
        }
        if (send(fd, argv[3], strlen(argv[3]), MSG_NOSIGNAL) < 0 && errno != EPIPE)
            return 69;
        return hear(fd, 2000);
    }
    umask(0);
    unlink(argv[2]);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8)) {
        perror("listen");
        return 69;
    }
    close(open(argv[3], O_WRONLY | O_CREAT, 0666));
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, 30000) != 1)
        return 69;
    /* Of an agent: struct udckpt_msg_identify, with another build's hash, at which a library answers all the same. */
    unsigned identify[8] = {sizeof identify, 1};
    for (int peers = 0; peers < 2; peers++) { /* a library's connection for control, then one for requests */
        int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        send(peer, identify, sizeof identify, MSG_NOSIGNAL);
        if (hear(peer, 1000))
            return 1;
        if (poll(&wait, 1, 1000) != 1)
            return 0;
    }
    return 0;
}
