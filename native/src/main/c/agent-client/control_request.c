/* Questions of this process to its agent. */
#include "control.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 30000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1;
static uint64_t cookie;

static void lost(const char *what)
{
    control_log("%s: %s; this process does not ask the agent again", what,
                errno ? strerror(errno) : "the agent closed the connection");
    if (connection >= 0)
        close(connection);
    connection = -1;
    __atomic_store_n(&control.agent, AGENT_LOST, __ATOMIC_RELEASE);
}

/* There is no limit to the waiting, only a word about it: an agent that has died closes the connection, and one that is
 * stopped (^Z, a debugger) goes on some day. To take it for dead would drop this process's datagrams for good. Sending
 * needs no limit either: one small question at a time always fits into the socket's buffer (unix(7)). */
static ssize_t receive_patiently(void *buffer, size_t size, const char *name)
{
    struct pollfd wait = {.fd = connection, .events = POLLIN};
    int timeout = TIMEOUT_MS, ready;
    while ((ready = poll(&wait, 1, timeout)) <= 0) {
        if (ready < 0 && errno != EINTR)
            return -1;
        if (ready == 0) {
            control_log("%s: no answer from the agent for %d s (is it stopped?); waiting for it", name,
                        TIMEOUT_MS / 1000);
            timeout = -1;
        }
    }
    errno = 0;
    return control_receive(connection, buffer, size);
}

static int open_connection(const char *name)
{
    struct udckpt_msg_identify identify;
    errno = 0;
    connection = control_connect(control.runtime_dir);
    if (connection < 0)
        return -1;
    ssize_t got = receive_patiently(&identify, sizeof identify, name);
    if (got != sizeof identify || identify.type != UDCKPT_MSG_IDENTIFY)
        return -1;
    return control_hello(connection, &identify, UDCKPT_ROLE_REQUEST);
}

/* Sends `question`, waits for an answer of this type and writes it to `answer`. Returns 0, or -1 when there is no
 * agent. */
static int ask(void *question, void *answer, size_t size, uint32_t type, const char *name)
{
    struct udckpt_message_header *header = question;
    int result = -1;
    if (__atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) != AGENT_PRESENT)
        return -1;
    pthread_mutex_lock(&mutex);
    if (connection < 0 && open_connection(name)) {
        lost(name);
    } else {
        header->cookie = ++cookie;
        errno = 0;
        ssize_t got = control_send(connection, question) ? -1 : receive_patiently(answer, size, name);
        if (got <= 0)
            lost(name);
        else if (got != (ssize_t)size || ((struct udckpt_message_header *)answer)->type != type) {
            errno = EPROTO;
            lost(name);
        } else
            result = 0;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int request_register(struct udckpt_msg_register *message)
{
    struct udckpt_msg_register answer;
    message->length = sizeof *message;
    message->type = UDCKPT_MSG_REGISTER;
    if (ask(message, &answer, sizeof answer, UDCKPT_MSG_REGISTERED, "REGISTER"))
        return REQUEST_NO_AGENT;
    message->virtual_qpn = answer.virtual_qpn;
    return (int)answer.status;
}

int request_unregister(struct udckpt_msg_register *message)
{
    struct udckpt_msg_plain answer;
    message->length = sizeof *message;
    message->type = UDCKPT_MSG_UNREGISTER;
    return ask(message, &answer, sizeof answer, UDCKPT_MSG_UNREGISTERED, "UNREGISTER") ? REQUEST_NO_AGENT
                                                                                       : (int)answer.status;
}

int request_resolve(int reverse, uint16_t lid, uint32_t qpn)
{
    struct udckpt_msg_resolve answer;
    struct udckpt_msg_resolve message = {
        .length = sizeof message, .type = UDCKPT_MSG_RESOLVE, .reverse = reverse, .qpn = qpn, .lid = lid};
    return ask(&message, &answer, sizeof answer, UDCKPT_MSG_RESOLVED, "RESOLVE") ? REQUEST_NO_AGENT
                                                                                 : (int)answer.status;
}

static int ask_host(uint32_t type, int reverse, const union ibv_gid *gids, int count, uint16_t *number)
{
    struct udckpt_msg_plain answer;
    struct udckpt_msg_host message = {
        .length = sizeof message, .type = type, .reverse = reverse, .number = *number, .count = count};
    memcpy(message.gids, gids, count * sizeof *gids);
    if (ask(&message, &answer, sizeof answer, UDCKPT_MSG_HOSTED, type == UDCKPT_MSG_HOST ? "HOST" : "FIND_HOST"))
        return REQUEST_NO_AGENT;
    *number = answer.value;
    return (int)answer.status;
}

int request_host(int reverse, uint16_t number, const union ibv_gid *gids, int count)
{
    return ask_host(UDCKPT_MSG_HOST, reverse, gids, count < UDCKPT_HOST_GIDS ? count : UDCKPT_HOST_GIDS, &number);
}

int request_find_host(int reverse, const union ibv_gid *gid, uint16_t *number)
{
    return ask_host(UDCKPT_MSG_FIND_HOST, reverse, gid, 1, number);
}

static int ask_key(struct udckpt_msg_key *message, const char *name)
{
    struct udckpt_msg_key answer;
    message->length = sizeof *message;
    if (ask(message, &answer, sizeof answer, UDCKPT_MSG_KEYED, name))
        return REQUEST_NO_AGENT;
    message->real_key = answer.real_key;
    return (int)answer.status;
}

int request_peer_keys(int rank)
{
    struct udckpt_msg_key message = {.type = UDCKPT_MSG_PEER_KEYS, .rank = (uint32_t)rank};
    return ask_key(&message, "PEER_KEYS");
}

int request_tell_key(uint32_t virtual_key, uint32_t real_key)
{
    struct udckpt_msg_key message = {
        .type = UDCKPT_MSG_TELL_KEY, .rank = (uint32_t)control.rank, .virtual_key = virtual_key, .real_key = real_key};
    return ask_key(&message, "TELL_KEY");
}

int request_find_key(int rank, uint32_t virtual_key, uint32_t *real_key)
{
    struct udckpt_msg_key message = {.type = UDCKPT_MSG_FIND_KEY, .rank = (uint32_t)rank, .virtual_key = virtual_key};
    int status = ask_key(&message, "FIND_KEY");
    *real_key = message.real_key;
    return status;
}

int request_cm_bind(struct udckpt_msg_cm_bind *message)
{
    struct udckpt_msg_plain answer;
    message->length = sizeof *message;
    message->type = UDCKPT_MSG_CM_BIND;
    if (ask(message, &answer, sizeof answer, UDCKPT_MSG_CM_BOUND, "CM_BIND"))
        return REQUEST_NO_AGENT;
    if (answer.status == UDCKPT_STATUS_OK)
        message->port = (uint16_t)answer.value;
    return (int)answer.status;
}

int request_cm_unbind(struct udckpt_msg_cm_bind *message)
{
    struct udckpt_msg_plain answer;
    message->length = sizeof *message;
    message->type = UDCKPT_MSG_CM_UNBIND;
    return ask(message, &answer, sizeof answer, UDCKPT_MSG_CM_UNBOUND, "CM_UNBIND") ? REQUEST_NO_AGENT
                                                                                    : (int)answer.status;
}

int request_cm_find(struct udckpt_msg_cm_bind *message)
{
    message->length = sizeof *message;
    message->type = UDCKPT_MSG_CM_FIND;
    return ask(message, message, sizeof *message, UDCKPT_MSG_CM_FOUND, "CM_FIND") ? REQUEST_NO_AGENT
                                                                                  : (int)message->status;
}

int request_locate(struct udckpt_msg_located *answer)
{
    struct udckpt_msg_plain message = {.length = sizeof message, .type = UDCKPT_MSG_LOCATE};
    return ask(&message, answer, sizeof *answer, UDCKPT_MSG_LOCATED, "LOCATE") ? REQUEST_NO_AGENT : (int)answer->status;
}

int request_fd(void)
{
    return connection;
}

void request_forget(void)
{
    connection = -1;
}

void request_close(void)
{
    if (connection >= 0)
        close(connection);
    connection = -1;
}

void request_forked(void)
{
    pthread_mutex_init(&mutex, NULL);
    request_close();
}
