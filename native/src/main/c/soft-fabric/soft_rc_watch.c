/* The engine's eye on the sockets: which packets it takes at once, and which it leaves to a program that polls.
 *
 * Packets of a connection that nobody polls wake the engine and are taken at once. Those of one that a program polls
 * are left to the program, which is quicker than a second thread that wants a processor and the lock; but a program
 * does not say when it has stopped. So its socket is silent for a grace only, which doubles for as long as the program
 * is seen to go on: it is never longer than the program has polled, nor than a millisecond. Other sockets wake the
 * engine meanwhile. All is called with the engine's mutex held, except soft_rc_watch_sleep. */
#include "soft_rc_watch.h"
#include "soft_cq.h"
#include "soft_xrc.h"
#include "common/system_calls.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_GRACE_NS = 50000, /* about what a packet and its answer take between two processes */
    LONGEST_GRACE_NS = 1000000,
    EVENTS = 32,
    PACKET_ROUNDS = 8
};

static int set = -1, wake = -1; /* an epoll set, and an eventfd in it */
static struct soft_rc *left;    /* to programs: their sockets are silent */

int soft_rc_watch_open(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (set >= 0)
        return 0;
    set = epoll_create1(EPOLL_CLOEXEC);
    wake = system_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (set >= 0 && wake >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, wake, &event))
        return 0;
    int error = errno;
    close(set), close(wake); /* or the next connection would take a set for ready that nothing wakes */
    set = wake = -1;
    return error;
}

int soft_rc_watch_fds(int fds[2])
{
    fds[0] = set;
    fds[1] = wake;
    return set >= 0 ? 2 : 0;
}

void soft_rc_watch_forget(void)
{
    set = wake = -1;
    left = NULL;
}

void soft_rc_watch_wake(void)
{
    uint64_t one = 1;
    if (wake >= 0 && write(wake, &one, sizeof one) < 0 && errno != EAGAIN)
        perror("udckpt: soft0: engine");
}

static int control(int operation, struct soft_rc *rc, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = rc};
    return epoll_ctl(set, operation, rc->qp->socket, &event) ? errno : 0;
}

int soft_rc_watch_add(struct soft_rc *rc)
{
    rc->grace = FIRST_GRACE_NS;
    return control(EPOLL_CTL_ADD, rc, EPOLLIN);
}

void soft_rc_watch_leave(struct soft_rc *rc)
{
    for (struct soft_rc **link = &left; *link; link = &(*link)->left_next)
        if (*link == rc) {
            *link = rc->left_next;
            break;
        }
}

void soft_rc_watch_remove(struct soft_rc *rc)
{
    soft_rc_watch_leave(rc);
    control(EPOLL_CTL_DEL, rc, 0); /* it is closed next in any case */
}

static void listen_to(struct soft_rc *rc, unsigned events)
{
    int error = control(EPOLL_CTL_MOD, rc, events);
    if (error) {
        errno = error;
        perror("udckpt: soft0: engine: a connection's socket; does the program close descriptors that it did not "
               "open?");
    }
}

static bool is_armed(const struct soft_qp *qp)
{
    if (qp->rc->service == SOFT_XRC_TARGET)
        return soft_xrc_is_armed(qp);
    return atomic_load(&qp->send_cq->armed) != SOFT_UNARMED || atomic_load(&qp->recv_cq->armed) != SOFT_UNARMED;
}

/* What came before the connection ended means nothing, and would wake the engine for ever. */
static void discard(struct soft_rc *rc)
{
    enum ibv_qp_state state = soft_rc_state(rc);
    char byte;
    if (state == IBV_QPS_ERR || state == IBV_QPS_RESET)
        while (recv(rc->qp->socket, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
            ;
}

/* Returns false when somebody is at it: a program that polls, or whoever has the lock. To wait for the lock would be
 * to spin while its holder may be waiting for the processor. */
static bool take(struct soft_rc *rc)
{
    unsigned polls = __atomic_load_n(&rc->polls, __ATOMIC_RELAXED);
    bool polled = polls != rc->polls_seen;
    rc->polls_seen = polls;
    if ((polled && !is_armed(rc->qp)) || !soft_rc_take_staged(rc, PACKET_ROUNDS))
        return false;
    if (soft_rc_listens(rc) || !soft_trylock(&rc->lock))
        return true;
    discard(rc);
    soft_unlock(&rc->lock);
    return true;
}

static void arrived(struct soft_rc *rc, uint64_t now)
{
    if (take(rc)) {
        rc->grace = FIRST_GRACE_NS;
        return;
    }
    listen_to(rc, 0);
    rc->look_again_at = now + rc->grace;
    rc->grace = rc->grace < LONGEST_GRACE_NS / 2 ? 2 * rc->grace : LONGEST_GRACE_NS;
    rc->left_next = left;
    left = rc;
}

static void look_again(uint64_t now)
{
    for (struct soft_rc **link = &left; *link;) {
        struct soft_rc *rc = *link;
        if (rc->look_again_at > now) {
            link = &rc->left_next;
            continue;
        }
        *link = rc->left_next;
        listen_to(rc, EPOLLIN); /* wakes at once if its packets are still there */
    }
}

void soft_rc_watch_take(uint64_t now)
{
    struct epoll_event events[EVENTS];
    uint64_t value;
    look_again(now);
    int n = epoll_wait(set, events, EVENTS, 0);
    for (int i = 0; i < n; i++)
        if (events[i].data.ptr)
            arrived(events[i].data.ptr, now);
        else if (read(wake, &value, sizeof value) < 0 && errno != EAGAIN)
            perror("udckpt: soft0: engine");
}

struct soft_rc_sleep soft_rc_watch_until(uint64_t until)
{
    for (const struct soft_rc *rc = left; rc; rc = rc->left_next)
        if (rc->look_again_at < until)
            until = rc->look_again_at;
    return (struct soft_rc_sleep){set, until};
}

void soft_rc_watch_sleep(struct soft_rc_sleep sleep)
{
    struct pollfd wait = {.fd = sleep.set, .events = POLLIN};
    uint64_t now = soft_rc_now(), left_ns = sleep.until > now ? sleep.until - now : 0;
    ppoll(&wait, 1, &(struct timespec){(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)}, NULL);
}
