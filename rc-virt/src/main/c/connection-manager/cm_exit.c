/* The end of a process. The kernel's connection manager outlives a program and disconnects what it leaves behind
 * (rdma_ucm destroys the ids of a file that is closed); ours ends with the process, so it says goodbye first. Without
 * that the other side's rdma_disconnect would wait for its time-out, 25 s. */
#include "cm.h"
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 200 }; /* exit(3) may be called by a handler whose thread holds the mutex */

static pid_t owner; /* a forked child has copies of the connections, and may use no verb */

void cm_owned(void)
{
    owner = getpid();
}

static int lock_soon(void)
{
    for (int waited = 0; pthread_mutex_trylock(&cm_mutex); waited++) {
        if (waited == TIMEOUT_MS)
            return 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 1;
}

static int is_open(const struct cm_id *id)
{
    return !cm_is_datagram(id) && (id->state == CM_CONNECTED || id->state == CM_ACCEPTED || id->state == CM_RESPONDED ||
                                   id->state == CM_CLOSING);
}

/* 0: there are more than can be sent at once. */
static int tell_all(void)
{
    for (struct cm_id *id = cm_all(); id; id = id->next)
        if (is_open(id)) {
            if (!cm_may_send())
                return 0;
            cm_fill(&id->last, id, CM_DREQ, NULL, 0);
            cm_send(&id->last, &id->peer.service);
            id->state = CM_CLOSED;
        }
    return 1;
}

__attribute__((destructor)) static void leave(void)
{
    if (owner != getpid())
        return;
    for (int waited = 0, done = 0; !done && waited < TIMEOUT_MS && lock_soon(); waited++) {
        done = tell_all();
        pthread_mutex_unlock(&cm_mutex);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
