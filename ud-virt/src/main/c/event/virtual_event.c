/* Descriptors of ours that stand for the device's: the job may hold them in its own epoll sets, so they
 * stay, and the device's are inside. Nobody sleeps inside the gate. */
#include "virtual.h"
#include "agent-client/control.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

int virtual_watch(int epoll, int fd, int *watching)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (*watching)
        return 0;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
        return -1;
    *watching = 1;
    return 0;
}

void virtual_unwatch(int epoll, int fd, int *watching)
{
    if (*watching && epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL))
        control_log("epoll_ctl(%d, DEL, %d): %s", epoll, fd, strerror(errno));
    *watching = 0;
}

/* The real descriptor never blocks: who waits, waits for ours. */
void virtual_make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
        control_log("fcntl(%d, O_NONBLOCK): %s", fd, strerror(errno));
}

/* Called outside the gate. Returns 0 when it is worth looking again, -1 with EAGAIN when the job made the
 * descriptor non-blocking, or with EINTR when a signal ended the wait. */
int virtual_wait(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -1;
    if (flags & O_NONBLOCK) {
        errno = EAGAIN;
        return -1;
    }
    return virtual_poll(&wait);
}
