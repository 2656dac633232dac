/* Counts what the kernel would take back when this process ends (SEM_UNDO of semop(2)), which it shows to nobody: a
 * checkpoint reads it here (docs/internals/kinds.md). */
#include "interposer.h"
#include "udckpt_layout.h"
#include <pthread.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT struct udckpt_semaphore_undos udckpt_semaphore_undos;

static struct udckpt_semaphore_undo *place(unsigned i)
{
    return (struct udckpt_semaphore_undo *)udckpt_semaphore_undos.entries + i;
}

/* When the set's values were last set (semctl(2)), which forgets what was to be taken back; 0: not permitted. */
static uint64_t changed(int set)
{
    struct semid_ds status;
    return syscall(SYS_semctl, set, 0, IPC_STAT, &status) ? 0 : (uint64_t)status.sem_ctime;
}

static struct udckpt_semaphore_undo *find(int set, unsigned short number)
{
    uint64_t key = (uint64_t)(unsigned)set << 32 | (number + 1U);
    for (unsigned i = 0; i < UDCKPT_SEMAPHORE_UNDOS; i++) {
        struct udckpt_semaphore_undo *entry = place(i);
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&entry->key, &there, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            entry->changed = changed(set);
            return entry;
        }
        if (there == key)
            return entry;
    }
    return NULL;
}

/* What a parent has counted is not taken back when its child ends. */
static void make_own(void)
{
    uint32_t own = (uint32_t)getpid(), was = __atomic_load_n(&udckpt_semaphore_undos.pid, __ATOMIC_ACQUIRE);
    while (was != own) {
        if (was == -own) { /* another thread is at it */
            was = __atomic_load_n(&udckpt_semaphore_undos.pid, __ATOMIC_ACQUIRE);
        } else if (__atomic_compare_exchange_n(&udckpt_semaphore_undos.pid, &was, -own, 0, __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE)) {
            memset(udckpt_semaphore_undos.entries, 0, sizeof udckpt_semaphore_undos.entries);
            udckpt_semaphore_undos.lost = 0;
            __atomic_store_n(&udckpt_semaphore_undos.pid, own, __ATOMIC_RELEASE);
            return;
        }
    }
}

static void count(int set, const struct sembuf *done)
{
    make_own();
    struct udckpt_semaphore_undo *entry = find(set, done->sem_num);
    if (entry)
        __atomic_sub_fetch(&entry->sum, (uint32_t)done->sem_op, __ATOMIC_RELAXED);
    else
        udckpt_semaphore_undos.lost = 1;
}

/* The operations are looked at when the kernel has taken them: before, they may be no memory at all. Until they are
 * counted they are pending, and a checkpoint is tried again. */
static int operate(long call, int set, struct sembuf *operations, size_t operation_count, const struct timespec *time)
{
    __atomic_add_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    int result = (int)syscall(call, set, operations, operation_count, time);
    int error = errno;
    for (size_t i = 0; !result && i < operation_count; i++)
        if (operations[i].sem_flg & SEM_UNDO)
            count(set, &operations[i]);
    __atomic_sub_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return result;
}

EXPORT int semop(int set, struct sembuf *operations, size_t operation_count)
{
    return operate(SYS_semop, set, operations, operation_count, NULL);
}

EXPORT int semtimedop(int set, struct sembuf *operations, size_t operation_count, const struct timespec *time)
{
    return operate(SYS_semtimedop, set, operations, operation_count, time);
}

/* Who leaves an IPC namespace has the kernel take back at once what was counted in it: but for the threads that have
 * counted with him, and not for a parent whose memory this is (vfork(2)). */
static void left(void)
{
    pid_t own = getpid();
    if (syscall(SYS_gettid) != own || __atomic_load_n(&udckpt_semaphore_undos.pid, __ATOMIC_ACQUIRE) != (uint32_t)own)
        return;
    memset(udckpt_semaphore_undos.entries, 0, sizeof udckpt_semaphore_undos.entries);
    udckpt_semaphore_undos.lost = 0;
}

EXPORT int unshare(int flags)
{
    __atomic_add_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    int result = (int)syscall(SYS_unshare, flags);
    int error = errno;
    if (!result && (flags & (CLONE_NEWIPC | CLONE_SYSVSEM)))
        left();
    __atomic_sub_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return result;
}

EXPORT int setns(int descriptor, int types)
{
    int error = errno, left_types = types ? types : ioctl(descriptor, NS_GET_NSTYPE);
    errno = error;
    __atomic_add_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    int result = (int)syscall(SYS_setns, descriptor, types);
    error = errno;
    if (!result && left_types > 0 && (left_types & CLONE_NEWIPC))
        left();
    __atomic_sub_fetch(&udckpt_semaphore_undos.pending, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return result;
}

static void in_child(void)
{
    udckpt_semaphore_undos.pending = 0;
}

__attribute__((constructor(101))) static void start(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
