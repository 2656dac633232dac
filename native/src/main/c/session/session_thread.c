/* The thread "udckpt": waits for the agent's messages and carries them out. It has all signals blocked
 * and touches no verb of the job. A checkpoint catches it in read(); in the restored process the same
 * descriptor is a connection to the new agent, and the next message is IDENTIFY. */
#define _GNU_SOURCE
#include "session.h"
#include "session_owned.h"
#include "agent-client/control.h"
#include "checkpoint/virtual_checkpoint.h"
#include "gate/gate.h"
#include "transport/rc_checkpoint.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { QUIESCE_TIMEOUT_MS = 5000, SETTLE_TIMEOUT_MS = 3000, DRAIN_TIMEOUT_MS = 2000, STACK_BYTES = 256 * 1024 };

static union {
    struct udckpt_message_header header;
    struct udckpt_msg_identify identify;
    struct udckpt_msg_plain plain;
    struct udckpt_msg_rebuild rebuild;
    char bytes[UDCKPT_MESSAGE_MAX];
} message;

static int restored;     /* IDENTIFY came from the agent of a later incarnation: REBUILD must follow */
static ino_t connection; /* a program that closes all descriptors may open a file under our number */

static int (*on_rebuilt)(char *error, size_t size);

void session_on_rebuilt(int (*rebuilt)(char *error, size_t size))
{
    __atomic_store_n(&on_rebuilt, rebuilt, __ATOMIC_RELEASE);
}

static ino_t socket_inode(void)
{
    struct stat status;
    return fstat(control.fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

static int answer(const void *reply)
{
    if (socket_inode() != connection) {
        errno = EBADF;
        return -1;
    }
    return control_send(control.fd, reply);
}

static int answer_plain(uint32_t type, uint32_t status, uint32_t value)
{
    struct udckpt_msg_plain reply = {
        .length = sizeof reply, .type = type, .cookie = message.header.cookie, .status = status, .value = value};
    return answer(&reply);
}

static int on_quiesce(void)
{
    int error = virtual_is_wanted() ? gate_close(QUIESCE_TIMEOUT_MS) : EOPNOTSUPP;
    if (!error)
        session_attachment_is(UDCKPT_ATTACH_GATED);
    else
        control_log("QUIESCE: %s", error == ETIMEDOUT    ? "a thread stayed inside a verb for 5 s"
                                   : error == EOPNOTSUPP ? "UDCKPT_VIRTUALIZE=0: this process cannot be checkpointed"
                                                         : "membarrier(2) is not available here");
    static uint64_t reply[UDCKPT_MESSAGE_MAX / 8];
    session_owned(reply, sizeof reply, message.header.cookie, error ? UDCKPT_STATUS_FAILED : UDCKPT_STATUS_OK);
    return answer(reply);
}

static int on_settle(void)
{
    unsigned waiting = 0;
    int error = gate_is_closed() ? rc_settle(SETTLE_TIMEOUT_MS, &waiting) : EINVAL;
    if (error == EINVAL)
        control_log("SETTLE: the gate is open");
    return answer_plain(UDCKPT_MSG_SETTLED, error ? UDCKPT_STATUS_FAILED : UDCKPT_STATUS_OK, waiting);
}

static int on_drain(void)
{
    unsigned moved = 0;
    int error = gate_is_closed() ? virtual_drain(DRAIN_TIMEOUT_MS, &moved) : EINVAL;
    if (error)
        control_log("DRAIN: %s", error == EINVAL ? "the gate is open" : strerror(error));
    return answer_plain(UDCKPT_MSG_DRAINED, error ? UDCKPT_STATUS_FAILED : UDCKPT_STATUS_OK, moved);
}

static int on_resume(void)
{
    if (restored && virtual_has_devices()) {
        control_log("RESUME before a successful REBUILD");
        return answer_plain(UDCKPT_MSG_RESUMED, UDCKPT_STATUS_FAILED, 0);
    }
    restored = 0;
    session_attachment_is(UDCKPT_ATTACH_OPEN);
    gate_open(virtual_resume());
    return answer_plain(UDCKPT_MSG_RESUMED, UDCKPT_STATUS_OK, 0);
}

/* The message's texts must end inside their fields. */
static int rebuild_is_whole(char *error, size_t size)
{
    const struct udckpt_msg_rebuild *order = &message.rebuild;
    const char *name = !memchr(order->device, 0, sizeof order->device)             ? "device"
                       : !memchr(order->runtime_dir, 0, sizeof order->runtime_dir) ? "runtime_dir"
                                                                                   : NULL;
    if (name)
        snprintf(error, size, "REBUILD: the text %s is not terminated", name);
    return !name;
}

static int on_rebuild(void)
{
    struct udckpt_msg_rebuilt reply = {
        .length = sizeof reply, .type = UDCKPT_MSG_REBUILT, .cookie = message.header.cookie};
    int (*rebuilt)(char *, size_t) = __atomic_load_n(&on_rebuilt, __ATOMIC_ACQUIRE);
    if (!rebuild_is_whole((char *)reply.error, sizeof reply.error))
        reply.status = UDCKPT_STATUS_FAILED;
    else if (virtual_rebuild(&message.rebuild, (char *)reply.error, sizeof reply.error))
        reply.status = UDCKPT_STATUS_FAILED;
    else if (rebuilt && rebuilt((char *)reply.error, sizeof reply.error))
        reply.status = UDCKPT_STATUS_FAILED;
    else
        restored = 0;
    return answer(&reply);
}

static int on_connect(void)
{
    struct udckpt_msg_rebuilt reply = {
        .length = sizeof reply, .type = UDCKPT_MSG_CONNECTED, .cookie = message.header.cookie};
    if (rc_connect_all((char *)reply.error, sizeof reply.error))
        reply.status = UDCKPT_STATUS_FAILED;
    return answer(&reply);
}

/* Bytes of a message of this type; 0: the agent sends none such. */
static uint32_t size_of(uint32_t type)
{
    switch (type) {
    case UDCKPT_MSG_IDENTIFY:
        return sizeof message.identify;
    case UDCKPT_MSG_QUIESCE:
    case UDCKPT_MSG_SETTLE:
    case UDCKPT_MSG_DRAIN:
    case UDCKPT_MSG_CONNECT:
    case UDCKPT_MSG_RESUME:
        return sizeof message.plain;
    case UDCKPT_MSG_REBUILD:
        return sizeof message.rebuild;
    default:
        return 0;
    }
}

/* The length is checked first: behind the end of a short message, the buffer still has the message before it. */
static int dispatch(void)
{
    uint32_t wanted = size_of(message.header.type);
    if (wanted && message.header.length != wanted) {
        control_log("the agent sent a message of type %u with %u bytes instead of %u", message.header.type,
                    message.header.length, wanted);
        errno = EPROTO;
        return -1;
    }
    switch (message.header.type) {
    case UDCKPT_MSG_IDENTIFY:
        connection = socket_inode();
        restored |= message.identify.generation != control.generation;
        return control_hello(control.fd, &message.identify, UDCKPT_ROLE_CONTROL);
    case UDCKPT_MSG_QUIESCE:
        return on_quiesce();
    case UDCKPT_MSG_SETTLE:
        return on_settle();
    case UDCKPT_MSG_CONNECT:
        return on_connect();
    case UDCKPT_MSG_DRAIN:
        return on_drain();
    case UDCKPT_MSG_RESUME:
        return on_resume();
    case UDCKPT_MSG_REBUILD:
        return on_rebuild();
    default:
        control_log("the agent sent a message of unknown type %u", message.header.type);
        errno = EPROTO;
        return -1;
    }
}

static void *serve(void *unused)
{
    gate_register();
    for (;;) {
        errno = 0;
        ssize_t got = control_receive(control.fd, &message, sizeof message);
        if (got <= 0 || dispatch())
            break;
    }
    const char *reason = errno ? strerror(errno) : "it closed the connection";
    if (restored && virtual_has_devices()) {
        control_log("the agent is gone (%s) before this restored process had its devices back; the process ends",
                    reason);
        _exit(EX_TEMPFAIL);
    }
    control_log("the agent is gone (%s); the process continues without checkpoints", reason);
    if (socket_inode() == connection) { /* an agent that sent nonsense lives, and shall see it */
        close(control.fd);
        control.fd = -1;
    }
    __atomic_store_n(&control.agent, AGENT_LOST, __ATOMIC_RELEASE);
    session_attachment_is(UDCKPT_ATTACH_LOST);
    gate_open(virtual_resume());
    return unused;
}

int session_start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    connection = socket_inode();
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(thread, "udckpt");
    return error;
}
