/* What an agent sends to a process over its control connection. The thread that reads it is begun anew for each input.
 */
/* links: libudckpt */
#include "fuzz.h"
#include "agent-client/control.h"
#include "gate/gate.h"
#include "session/session.h"
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

void control_log(const char *format, ...)
{
}

static void drop_answers(int fd)
{
    char bytes[4096];
    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int pair[2];
    if (size > 60000)
        return 0; /* what fits into a socket */
    NEED(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    top_device(); /* puts the floors together */
    control.fd = pair[1];
    control.generation = 3;
    __atomic_store_n(&control.agent, AGENT_PRESENT, __ATOMIC_RELEASE);
    NEED(send(pair[0], bytes, size, 0) == (ssize_t)size);
    shutdown(pair[0], SHUT_WR);
    NEED(!session_start_thread());
    drop_answers(pair[0]); /* until it has hung up */
    while (__atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) != AGENT_LOST)
        usleep(10);
    close(pair[0]);
    return 0;
}
