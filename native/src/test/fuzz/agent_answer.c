/* What an agent answers to a process's requests; the first byte says to which. */
/* links: libudckpt */
#include "fuzz.h"
#include "udckpt_layout.h"
#include "agent-client/control.h"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void control_log(const char *format, ...)
{
}

enum { MOST = 60000 };

/* A connection of an input before may still be served. */
static uint8_t answer[MOST];
static size_t answer_size;
static int listener = -1;

/* One connection after the other: IDENTIFY, whose hash the process checks, and then the input. */
static void *serve(void *nothing)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        NEED(fd >= 0);
        char bytes[4096];
        if (send(fd, answer, answer_size, MSG_NOSIGNAL) < 0) {
        } /* it has hung up already, after fewer bytes */
        shutdown(fd, SHUT_WR);
        while (recv(fd, bytes, sizeof bytes, 0) > 0)
            ;
        close(fd);
    }
    return nothing;
}

static void prepare(void)
{
    pthread_t thread;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(control.runtime_dir, sizeof control.runtime_dir, "/dev/shm/fuzz.XXXXXX");
    NEED(mkdtemp(control.runtime_dir));
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/agent.sock", control.runtime_dir);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    NEED(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, 8));
    NEED(!pthread_create(&thread, NULL, serve, NULL));
}

static void clear_away(void)
{
    char path[sizeof control.runtime_dir + 16];
    snprintf(path, sizeof path, "%s/agent.sock", control.runtime_dir);
    unlink(path);
    rmdir(control.runtime_dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (listener < 0) {
        prepare();
        atexit(clear_away);
    }
    if (size < 1 || size > MOST)
        return 0;
    memcpy(answer, bytes + 1, size - 1);
    answer_size = size - 1;
    __atomic_store_n(&control.agent, AGENT_PRESENT, __ATOMIC_SEQ_CST);
    union ibv_gid gids[2] = {0};
    uint16_t number;
    uint32_t key;
    struct udckpt_msg_register message = {0};
    struct udckpt_msg_cm_bind port = {0};
    struct udckpt_msg_located place;
    switch (bytes[0] % 11) {
    case 0:
        request_register(&message);
        break;
    case 1:
        request_unregister(&message);
        break;
    case 2:
        request_resolve(1, 2, 3);
        break;
    case 3:
        request_host(0, 1, gids, 2);
        break;
    case 4:
        request_find_host(0, gids, &number);
        break;
    case 5:
        request_peer_keys(1);
        break;
    case 6:
        request_tell_key(1, 2);
        break;
    case 7:
        request_find_key(1, 2, &key);
        break;
    case 8:
        request_locate(&place);
        break;
    case 9:
        request_cm_find(&port);
        break;
    default:
        request_cm_bind(&port);
        request_cm_unbind(&port);
    }
    request_close();
    return 0;
}
