/* Marks eventfds that count down one by one, because only kernels since 6.5 show in fdinfo that one does. */
#include "interposer.h"
#include "udckpt_layout.h"
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT int eventfd(unsigned int count, int flags)
{
    int fd = syscall(SYS_eventfd2, count, flags); /* all that glibc's does */
    if (fd < 0 || !(flags & EFD_SEMAPHORE) || !fcntl(fd, F_SETSIG, UDCKPT_EVENTFD_SEMAPHORE_MARK))
        return fd;
    int error = errno;
    syscall(SYS_close, fd); /* close(2) may end a thread, and leave the descriptor */
    errno = error;
    return -1;
}
