/* A process becomes the agent's business when it opens its first device: shared files, connection, address of
 * its host, control thread. A checkpoint in the middle of it is taken back and tried again, because the capture
 * reads udckpt_attachment; so none of this has to be able to go on in a restored process. */
#include "address_table.h"
#include "counters.h"
#include "session.h"
#include "agent-client/control.h"
#include "gate/gate.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In .data: its bytes are right as soon as the dynamic linker has mapped them, before any constructor. */
__attribute__((visibility("default"))) struct udckpt_attachment udckpt_attachment = {.magic = UDCKPT_ATTACHMENT_MAGIC};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int opened; /* a device was opened, or is being opened, in this process or in one that it was forked from */
static int done;   /* attached, or to go on without an agent */

/* The pid first when it begins, and last when it ends, so that a state is never taken for another process's. */
void session_attachment_is(uint32_t state)
{
    if (state != UDCKPT_ATTACH_NONE)
        __atomic_store_n(&udckpt_attachment.pid, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
    __atomic_store_n(&udckpt_attachment.state, state, __ATOMIC_SEQ_CST);
}

/* The environment tells the address of the first incarnation; the agent knows that of this one, and which number this
 * process has. Returns 0 or an errno. */
static int locate(const struct verbs_device *device, int restored)
{
    struct udckpt_msg_located place;
    int status = request_locate(&place);
    control.rank = status == REQUEST_OK || status == REQUEST_UNKNOWN ? (int)place.rank : -1;
    switch (status) {
    case REQUEST_OK: {
        struct device_config config = {
            .lid = place.real_lid, .lids = place.real_lids, .qpn_first = place.qpn_first, .qpn_last = place.qpn_last};
        return device->configure(&config);
    }
    case REQUEST_UNKNOWN:
        return restored ? EADDRNOTAVAIL : 0;
    case REQUEST_FAILED:
        return EUSERS;
    default:
        return ENOTCONN;
    }
}

static int attach(const struct verbs_device *device, int restored, char *error, size_t size)
{
    const char *directory = control.runtime_dir;
    control.fd = control_connect(control.runtime_dir);
    if (control.fd < 0) {
        snprintf(error, size, "%s/agent.sock: %s", directory, strerror(errno));
        return -1;
    }
    if (address_table_map(directory, error, size))
        return -1;
    control.generation = address_table_generation();
    __atomic_store_n(&control.agent, AGENT_PRESENT, __ATOMIC_RELEASE);
    if (device->set_key)
        device->set_key(address_table_key());
    int failed = locate(device, restored);
    if (failed) {
        snprintf(error, size, "the address of this process in this incarnation of the job: %s", strerror(failed));
        return -1;
    }
    if (counters_map(directory, control.rank, error, size))
        return -1;
    gate_refresh_counters();
    session_attachment_is(UDCKPT_ATTACH_OPEN);
    failed = session_start_thread();
    if (failed)
        snprintf(error, size, "pthread_create: %s", strerror(failed));
    return failed ? -1 : 0;
}

static void detach(void)
{
    if (control.fd >= 0)
        close(control.fd);
    control.fd = -1;
    control.rank = -1;
    request_close();
    if (control.agent == AGENT_PRESENT)
        __atomic_store_n(&control.agent, AGENT_LOST, __ATOMIC_RELEASE);
}

/* In the first incarnation the environment's address is right, and the device works without an agent; later it is
 * not. */
static int attach_or_not(const struct verbs_device *device)
{
    char error[256];
    int restored = control_find_directory(control.named_dir, control.runtime_dir, sizeof control.runtime_dir);
    session_attachment_is(UDCKPT_ATTACH_BEGUN);
    if (attach(device, restored, error, sizeof error) == 0)
        return 0;
    detach();
    session_attachment_is(UDCKPT_ATTACH_LOST);
    if (!restored) {
        control_log("%s; this process runs without checkpoints", error);
        return 0;
    }
    control_log("%s; a restored job cannot open another device without its agent", error);
    errno = ENOTCONN;
    return -1;
}

/* Connections are the parent's: kept open, they would hide its end from the agent. */
static void leave_agent(void)
{
    if (control.fd >= 0)
        close(control.fd);
    control.fd = -1;
    if (control.agent == AGENT_PRESENT)
        control.agent = AGENT_LOST;
    control.rank = -1;
    session_attachment_is(UDCKPT_ATTACH_NONE);
    pthread_mutex_init(&mutex, NULL);
    request_forked();
}

/* Only the thread that forked is here. Where the parent had opened no device, the child may. */
static void in_child(void)
{
    gate_forked(__atomic_load_n(&opened, __ATOMIC_SEQ_CST));
    counters_forked();
    leave_agent();
}

static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

__attribute__((constructor(101))) static void start(void)
{
    pthread_once(&forks_watched, watch_forks);
}

/* Signals are blocked: a handler that opens a device would wait for the mutex for ever. */
int session_attach(const struct verbs_device *device)
{
    int result = 0;
    sigset_t all, before;
    if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        return 0;
    pthread_once(&forks_watched, watch_forks); /* another library's constructor may open a device before ours has run */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&mutex);
    if (!done) {
        __atomic_store_n(&opened, 1, __ATOMIC_SEQ_CST);
        if (control.named_dir[0])
            result = attach_or_not(device);
        if (!result)
            __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}
