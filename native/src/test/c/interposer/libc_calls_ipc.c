/* libc_calls: the functions about semaphores, message queues and the namespaces that these are in. */
#define _GNU_SOURCE
#include "libc_calls_functions.h"
#include <stdio.h>

/* Values stay as they were, and so does what is to be undone. */
void drive_semaphores(void)
{
    static const int kinds[] = {0, IPC_NOWAIT, SEM_UNDO, SEM_UNDO | IPC_NOWAIT};
    static const struct path none = {"one", NULL};
    int set = semget(IPC_PRIVATE, 1, 0600);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (enum function function = F_semop; function <= F_semtimedop; function++) {
            struct sembuf both[] = {{0, 3, (short)kinds[i]}, {0, -3, (short)kinds[i]}};
            struct sembuf not_now = {0, -1, (short)(kinds[i] | IPC_NOWAIT)}, no_such = {9, 1, (short)kinds[i]};
            const long sets[] = {set, -1}, operations[] = {(long)both, (long)&not_now, (long)&no_such, 0, -8};
            for (unsigned k = 0; k < 10; k++) {
                begin(function, &none, "flags", kinds[i] * 100 + (int)k);
                put_result(call(function, sets[k / 5], operations[k % 5], k % 5 ? 1 : 2, 0));
                end_line();
            }
        }
    begin(F_semop, &none, "left", semctl(set, 0, GETVAL));
    put_result(call(F_semop, set, 0, 0, 0));
    end_line();
    semctl(set, 0, IPC_RMID);
}

/* Twice: the second finds the first there (EBUSY), and what has no event takes it away. */
void drive_notifications(void)
{
    static const struct path none = {"queue", NULL};
    static const struct sigevent events[] = {{.sigev_notify = SIGEV_NONE},
                                             {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG},
                                             {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 1000},
                                             {.sigev_notify = 77}};
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[32];
    snprintf(name, sizeof name, "/udckpt-libc-%ld", (long)gettid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes), descriptors[] = {queue, -1, 999};
    mq_unlink(name);
    for (unsigned i = 0; i < 3 * (sizeof events / sizeof *events + 1); i++) {
        const struct sigevent *event = i / 3 < sizeof events / sizeof *events ? &events[i / 3] : NULL;
        for (unsigned k = 0; k < 3; k++) { /* again: it is taken; and then not any more */
            begin(F_mq_notify, &none, "event", (long)(10 * (i / 3) + k));
            put_result(call(F_mq_notify, descriptors[i % 3], k < 2 ? (long)event : 0, 0, 0));
            end_line();
        }
    }
    mq_close(queue);
}

static void drive_entering(const char *name, int descriptor, int type)
{
    const struct path path = {name, NULL};
    begin(F_setns, &path, "type", type);
    put_result(call(F_setns, descriptor, type, 0, 0));
    end_line();
}

void drive_namespaces(void)
{
    static const struct path none = {"none", NULL};
    static const int flags[] = {0, -1, CLONE_SYSVSEM, CLONE_NEWIPC};
    int own = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC), other = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        begin(F_unshare, &none, "flags", flags[i]);
        put_result(call(F_unshare, flags[i], 0, 0, 0));
        end_line();
    }
    drive_entering("ipc", own, 0);
    drive_entering("ipc", own, CLONE_NEWIPC);
    drive_entering("uts", other, CLONE_NEWIPC);
    drive_entering("none", -1, 0);
    close(own);
    close(other);
}
