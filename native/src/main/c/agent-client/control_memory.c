/* A page of memory belongs to one context of userfaultfd(2) only. The agent has one of its own, by which the kernel
 * tells it what was written between checkpoints; where the program makes one, the agent gives its own up, for good:
 * such a process's memory is read whole. Nothing here allocates or locks. */
#include "control.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

/* Whether something can be read from it within the time; a stopped agent must not stop the program. */
static int answers(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, PATIENCE_MS) == 1;
}

void control_leave_memory(void)
{
    char directory[sizeof control.runtime_dir];
    struct udckpt_msg_identify identify;
    int before = errno;
    if (*control.named_dir) {
        control_find_directory(control.named_dir, directory, sizeof directory);
        int fd = control_connect(directory);
        if (fd >= 0) {
            if (answers(fd) && control_receive(fd, &identify, sizeof identify) == sizeof identify &&
                !control_hello(fd, &identify, UDCKPT_ROLE_MEMORY))
                answers(fd); /* the agent closes the connection when it is done */
            close(fd);
        }
    }
    errno = before;
}
