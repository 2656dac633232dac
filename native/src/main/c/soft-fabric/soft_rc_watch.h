/* soft_rc_watch.c, for soft_rc_engine.c. Times are those of soft_rc_now(). */
#pragma once
#include "soft_types.h" /* first: it asks for GNU declarations */
#include "soft_rc.h"

int soft_rc_watch_open(void);      /* 0 or an errno; may be called again */
int soft_rc_watch_fds(int fds[2]); /* 0 or 2 */
void soft_rc_watch_forget(void);   /* its descriptors are gone */
void soft_rc_watch_wake(void);
int soft_rc_watch_add(struct soft_rc *rc); /* 0 or an errno */
void soft_rc_watch_remove(struct soft_rc *rc);
void soft_rc_watch_leave(struct soft_rc *rc); /* as remove, when the set is gone, too */
void soft_rc_watch_take(uint64_t now);        /* the packets that are there, unless they are left to a program */

/* What to wait for without the mutex: a packet, or this time. */
struct soft_rc_sleep {
    int set;
    uint64_t until;
};
struct soft_rc_sleep soft_rc_watch_until(uint64_t until); /* or earlier, when a socket is to be watched again */
void soft_rc_watch_sleep(struct soft_rc_sleep sleep);
