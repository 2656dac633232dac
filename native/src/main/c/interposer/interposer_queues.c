/* Notes the values of the signals that POSIX message queues are to send (mq_notify(3)). The kernel tells who gets which
 * signal, but not its value (docs/internals/kinds.md). */
#include "interposer_loader.h"
#include "common/system_calls.h"
#include "udckpt_layout.h"
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

EXPORT struct udckpt_queue_notes udckpt_queue_notes;

static struct udckpt_queue_note *place(unsigned i)
{
    return (struct udckpt_queue_note *)udckpt_queue_notes.entries + i % UDCKPT_QUEUE_NOTES;
}

/* A queue has one notification at a time: threads that note one of the same queue come one after the other. */
static void note(uint64_t inode, uint64_t value)
{
    for (unsigned i = 0; i < UDCKPT_QUEUE_NOTES; i++)
        if (__atomic_load_n(&place(i)->inode, __ATOMIC_ACQUIRE) == inode) {
            __atomic_store_n(&place(i)->value, value, __ATOMIC_RELEASE);
            return;
        }
    struct udckpt_queue_note *next = place(__atomic_fetch_add(&udckpt_queue_notes.last, 1, __ATOMIC_ACQ_REL));
    __atomic_store_n(&next->inode, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&next->value, value, __ATOMIC_RELEASE);
    __atomic_store_n(&next->inode, inode, __ATOMIC_RELEASE);
}

/* Who looks while a thread is in here tries again. */
static int register_signal(mqd_t queue, const struct sigevent *event)
{
    struct stat stat;
    __atomic_add_fetch(&udckpt_queue_notes.pending, 1, __ATOMIC_SEQ_CST);
    int result = (int)system_call(SYS_mq_notify, queue, (long)event, 0, 0, 0, 0), error = errno;
    if (result == 0 && event && system_call(SYS_fstat, queue, (long)&stat, 0, 0, 0, 0) == 0)
        note(stat.st_ino, (uint64_t)event->sigev_value.sival_ptr);
    __atomic_sub_fetch(&udckpt_queue_notes.pending, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return result;
}

/* A thread's notification is the C library's own business: it has a socket and a thread for it. */
EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    if (event && event->sigev_notify == SIGEV_THREAD) {
        int (*real)(mqd_t, const struct sigevent *) =
            (int (*)(mqd_t, const struct sigevent *))interposer_next("mq_notify", __builtin_return_address(0));
        if (real)
            return real(queue, event);
        errno = ENOSYS; /* a program that has it linked into itself does not come here */
        return -1;
    }
    return register_signal(queue, event);
}

static void in_child(void)
{
    udckpt_queue_notes.pending = 0;
}

__attribute__((constructor(101))) static void start(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
