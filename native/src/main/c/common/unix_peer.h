/* The user at the other end of a unix socket; used in libudckpt.so and in the shepherd. */
#pragma once
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whether the process that called connect(2) or listen(2) there had this process's user, or was root. Returns 0, or -1
 * with errno. */
static inline int unix_peer_check(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -1;
    if (peer.uid == 0 || peer.uid == geteuid())
        return 0;
    errno = EACCES;
    return -1;
}
