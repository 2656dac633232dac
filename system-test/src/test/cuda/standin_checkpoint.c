/* The stand-in's checkpoint functions (standin_cuda.h): they write a request into the memory of the process that they
 * are about, as whoever may trace it can, and its thread answers there. So nothing of it is in the way of a checkpoint,
 * and it is found again after a restart, in whatever pid namespace. */
#define _GNU_SOURCE
#include "standin_cuda.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct standin_control standin_control;

struct lock_args {
    unsigned timeout_ms, reserved0;
    uint64_t reserved1[7];
};

struct plain_args {
    uint64_t reserved[8];
};

struct restore_args {
    struct gpu_pair *pairs;
    unsigned count;
    char reserved[52 - sizeof(void *)];
    uint64_t reserved1;
};

_Static_assert(sizeof(struct lock_args) == 64, "CUcheckpointLockArgs");
_Static_assert(sizeof(struct plain_args) == 64, "CUcheckpointCheckpointArgs");
_Static_assert(sizeof(struct restore_args) == 64, "CUcheckpointRestoreArgs");

static const char *const NAMES[] = {
    [LOCK] = "lock", [CHECKPOINT] = "checkpoint", [RESTORE] = "restore", [UNLOCK] = "unlock"};

static void pause_ms(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&time, &time) && errno == EINTR)
        ;
}

/* What the file of troubles says of an action of this rank: the error, or 0; waits as long as it says. */
static int trouble(enum action action)
{
    FILE *file = standin_file("trouble", "re");
    char name[16], rank[16], kind[16], own[16];
    int result = SUCCESS, number;
    if (!file)
        return SUCCESS;
    snprintf(own, sizeof own, "%d", standin_rank());
    while (fscanf(file, "%15s %15s %15s", name, rank, kind) == 3) {
        int failed = !strcmp(kind, "failed");
        number = failed ? LAUNCH_FAILED : 0;
        if (!failed && fscanf(file, "%d", &number) != 1)
            break;
        if (strcmp(name, NAMES[action]) || (strcmp(rank, "*") && strcmp(rank, own)))
            continue;
        if (!strcmp(kind, "delay"))
            pause_ms((unsigned)number);
        else
            result = number;
        if (failed)
            standin_control.state = FAILED;
    }
    fclose(file);
    if (standin_control.state == FAILED) /* once */
        standin_forget("trouble");
    return result;
}

/* One write, so that lines of several processes stay whole. */
static void note(enum action action, int result)
{
    FILE *file = standin_file("log", "ae");
    if (!file)
        return;
    char line[128];
    int length = snprintf(line, sizeof line, "%d %s %d", standin_rank(), NAMES[action], result);
    for (int i = 0; action == RESTORE && standin_control.pairs && i < UUID_BYTES; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, i ? "%02x" : " %02x",
                           standin_control.pair[0].after[i]);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void *listen_for_requests(void *unused)
{
    struct standin_control *control = &standin_control;
    (void)unused;
    for (;;) {
        if (control->asked == control->done) {
            pause_ms(1);
            continue;
        }
        __sync_synchronize();
        control->result = trouble(control->action);
        if (!control->result)
            control->result = standin_act(control->action, control->timeout_ms, control->pair, control->pairs);
        note(control->action, control->result);
        __sync_synchronize();
        control->done = control->asked;
    }
    return NULL;
}

int standin_listen(void)
{
    pthread_t thread;
    if (standin_control.thread)
        return 0;
    standin_control.thread = 1;
    return pthread_create(&thread, NULL, listen_for_requests, NULL);
}

/* Where this library begins in a process; 0: it is not mapped there. */
static uintptr_t base_in(int pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    uintptr_t base = 0;
    while (maps && !base && fgets(line, sizeof line, maps)) {
        unsigned long start, offset;
        if (strstr(line, "/libcuda.so.1\n") && sscanf(line, "%lx-%*x %*s %lx", &start, &offset) == 2 && !offset)
            base = start;
    }
    if (maps)
        fclose(maps);
    return base;
}

/* Copies the control block of a process to here, or from here to it. */
static int transfer(int pid, struct standin_control *here, size_t from, size_t bytes, int to)
{
    Dl_info own;
    uintptr_t base = base_in(pid);
    if (!base || !dladdr(&standin_control, &own))
        return NOT_INITIALIZED;
    uintptr_t there = base + ((uintptr_t)&standin_control - (uintptr_t)own.dli_fbase) + from;
    struct iovec local = {(char *)here + from, bytes}, remote = {(void *)there, bytes};
    ssize_t moved =
        to ? process_vm_writev(pid, &local, 1, &remote, 1, 0) : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return moved == (ssize_t)bytes ? SUCCESS : OPERATING_SYSTEM;
}

static int look(int pid, struct standin_control *control)
{
    int result = transfer(pid, control, 0, sizeof *control, 0);
    if (result)
        return result;
    return control->thread ? SUCCESS : NOT_INITIALIZED;
}

static int ask(int pid, enum action action, unsigned timeout_ms, const struct gpu_pair *pairs, unsigned count)
{
    struct standin_control control;
    int result = look(pid, &control);
    if (result)
        return result;
    if (count > MOST_GPUS)
        return INVALID_VALUE;
    control.action = action;
    control.timeout_ms = timeout_ms;
    control.pairs = count;
    if (count)
        memcpy(control.pair, pairs, count * sizeof *pairs);
    size_t wishes = offsetof(struct standin_control, action);
    result = transfer(pid, &control, wishes, sizeof control - wishes, 1);
    uint32_t number = control.asked + 1;
    control.asked = number;
    if (!result)
        result = transfer(pid, &control, 0, sizeof control.asked, 1);
    while (!result) {
        pause_ms(1);
        result = look(pid, &control);
        if (!result && control.done == number)
            return control.result;
    }
    return result;
}

static int zeroed(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (((const char *)bytes)[i])
            return 0;
    return 1;
}

int cuCheckpointProcessLock(int pid, struct lock_args *args)
{
    if (args && (args->reserved0 || !zeroed(args->reserved1, sizeof args->reserved1)))
        return INVALID_VALUE;
    return ask(pid, LOCK, args ? args->timeout_ms : 0, NULL, 0);
}

int cuCheckpointProcessCheckpoint(int pid, struct plain_args *args)
{
    return args && !zeroed(args, sizeof *args) ? INVALID_VALUE : ask(pid, CHECKPOINT, 0, NULL, 0);
}

int cuCheckpointProcessRestore(int pid, struct restore_args *args)
{
    if (args && (args->reserved1 || !zeroed(args->reserved, sizeof args->reserved)))
        return INVALID_VALUE;
    return ask(pid, RESTORE, 0, args ? args->pairs : NULL, args ? args->count : 0);
}

int cuCheckpointProcessUnlock(int pid, struct plain_args *args)
{
    return args && !zeroed(args, sizeof *args) ? INVALID_VALUE : ask(pid, UNLOCK, 0, NULL, 0);
}

int cuCheckpointProcessGetState(int pid, unsigned *state)
{
    struct standin_control control;
    int result = look(pid, &control);
    if (!result)
        *state = control.state;
    return result;
}

int cuCheckpointProcessGetRestoreThreadId(int pid, int *thread)
{
    struct standin_control control;
    int result = look(pid, &control);
    if (!result)
        *thread = control.thread;
    return result;
}

static const struct {
    int code;
    const char *name, *text;
} ERRORS[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int describe(int error, const char **text, int name)
{
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (ERRORS[i].code == error) {
            *text = name ? ERRORS[i].name : ERRORS[i].text;
            return SUCCESS;
        }
    *text = NULL;
    return INVALID_VALUE;
}

int cuGetErrorName(int error, const char **text)
{
    return describe(error, text, 1);
}

int cuGetErrorString(int error, const char **text)
{
    return describe(error, text, 0);
}
