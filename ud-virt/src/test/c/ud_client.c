/* A verbs program that is told what to do: one command a line, one answer a line. Knows nothing of udckpt. */
#define _GNU_SOURCE
#include "ud_client_verbs.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
#define SAY(...) \
    do { \
        pthread_mutex_lock(&output); \
        printf(__VA_ARGS__); \
        fflush(stdout); \
        pthread_mutex_unlock(&output); \
    } while (0)

static void say_gid(char *to, const union ibv_gid *gid)
{
    for (int i = 0; i < 16; i++)
        sprintf(to + 2 * i, "%02x", gid->raw[i]);
}

static void address(void)
{
    struct ibv_port_attr port;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    union ibv_gid gid;
    char text[33];
    if (ibv_query_port(ud.context, 1, &port) || ibv_query_gid(ud.context, 1, 0, &gid) ||
        ibv_query_qp(ud.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY, &init) || init.send_cq != ud.send_cq ||
        attr.qkey != QKEY)
        ud_die("query");
    say_gid(text, &gid);
    SAY("address %u %u %s %d %u\n", port.lid, ud.qp->qp_num, text, attr.qp_state, ud.mr->lkey);
}

static void receive(const char *what, int milliseconds)
{
    struct ibv_wc wc;
    union ibv_gid source;
    char text[SLOT_BYTES], gid[33];
    if (!ud_receive(milliseconds, &wc, text, &source)) {
        SAY("nothing\n");
        return;
    }
    say_gid(gid, &source);
    SAY("%s %s from %u %u grh %s imm %u qp %u\n", what, text, wc.slid, wc.src_qp,
        wc.wc_flags & IBV_WC_GRH ? gid : "none", be32toh(wc.imm_data), wc.qp_num);
}

/* Arms the queue, waits for the channel inside an epoll set of the program's own, then takes the event. */
static void *sleeper(void *unused)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct ibv_cq *cq;
    void *context;
    int set = epoll_create1(0);
    if (ibv_req_notify_cq(ud.receive_cq, 1) || epoll_ctl(set, EPOLL_CTL_ADD, ud.channel->fd, &event))
        ud_die("arm");
    SAY("armed\n");
    while (epoll_wait(set, &event, 1, -1) < 0 && errno == EINTR)
        ;
    if (ibv_get_cq_event(ud.channel, &cq, &context) || cq != ud.receive_cq || context != &ud)
        ud_die("event");
    ibv_ack_cq_events(cq, 1);
    close(set);
    receive("woken", 1000);
    return unused;
}

/* Threads that are inside a verb nearly always: the gate must find a moment without them. */
static void *hammer(void *stop)
{
    struct ibv_wc wc;
    while (!atomic_load((atomic_int *)stop))
        if (ibv_poll_cq(ud.send_cq, 1, &wc) < 0)
            ud_die("ibv_poll_cq");
    return NULL;
}

static void fork_child(void)
{
    int status;
    pid_t child = fork();
    if (!child) {
        struct ibv_port_attr port;
        int error = ibv_query_port(ud.context, 1, &port);
        struct ibv_device **list = ibv_get_device_list(NULL);
        _exit(error == EOPNOTSUPP && !list && errno == EOPNOTSUPP ? 42 : 1);
    }
    waitpid(child, &status, 0);
    SAY("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* A child that opens a device of its own: allowed when its parent has opened none. */
static void fork_and_open(void)
{
    int status;
    pid_t child = fork();
    if (!child) {
        ud_open();
        address();
        _exit(0);
    }
    waitpid(child, &status, 0);
    SAY("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void close_all(char *fds)
{
    for (char *fd = strtok(fds, " \n"); fd; fd = strtok(NULL, " \n"))
        if (syscall(SYS_close, atoi(fd))) /* as at a restore, where they are not there and nobody has closed them */
            ud_die("close");
    SAY("closed\n");
}

static int parse_gid(const char *hex, union ibv_gid *gid)
{
    for (int i = 0; i < 16; i++)
        if (sscanf(hex + 2 * i, "%2hhx", &gid->raw[i]) != 1)
            return -1;
    return 0;
}

int main(void)
{
    static atomic_int stop;
    char line[65536], word[64], hex[64];
    unsigned lid, qpn, count;
    pthread_t thread;
    while (fgets(line, sizeof line, stdin)) {
        union ibv_gid gid;
        if (!strncmp(line, "open", 4)) {
            ud_open();
            address();
        } else if (!strncmp(line, "address", 7)) {
            address();
        } else if (sscanf(line, "send %u %u %u %63s", &lid, &qpn, &count, word) == 4) {
            SAY("sent %lu\n", ud_send(lid, qpn, word, count, NULL));
        } else if (sscanf(line, "grh %u %u %63s %63s", &lid, &qpn, hex, word) == 4 && !parse_gid(hex, &gid)) {
            SAY("sent %lu\n", ud_send(lid, qpn, word, 1, &gid));
        } else if (sscanf(line, "receive %u", &count) == 1) {
            receive("received", (int)count);
        } else if (!strncmp(line, "sleep", 5)) {
            pthread_create(&thread, NULL, sleeper, NULL);
            pthread_detach(thread);
        } else if (!strncmp(line, "hammer", 6)) {
            for (int i = 0; i < 3; i++) {
                pthread_create(&thread, NULL, hammer, &stop);
                pthread_detach(thread);
            }
            SAY("hammering\n");
        } else if (!strncmp(line, "rest", 4)) {
            stop = 1;
            SAY("resting\n");
        } else if (!strncmp(line, "forkopen", 8)) {
            fork_and_open();
        } else if (!strncmp(line, "fork", 4)) {
            fork_child();
        } else if (!strncmp(line, "destroy", 7)) {
            SAY("destroyed %d\n", ibv_destroy_qp(ud.qp));
        } else if (!strncmp(line, "close ", 6)) {
            close_all(line + 6);
        } else {
            SAY("unknown command %s", line);
        }
    }
    return 0;
}
