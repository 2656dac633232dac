/* A stand-in for NVIDIA's driver library, for tests on machines without a GPU. It is not CUDA: it has as much of the
 * documented CUDA driver API as the tests call, and the documented states of its checkpoint functions (CUDA Driver API,
 * "CUDA Checkpointing" and "Data types": CUprocessState). Its files are in the directory that STANDIN_CUDA_DIR names:
 *
 *   gpus      a line for each GPU: UUID (32 hexadecimal digits), MiB of memory, name
 *   version   what cuDriverGetVersion says; without it 13000
 *   trouble   lines of ACTION RANK (or *) and one of: delay MS, error CODE, failed (the state is then
 *             FAILED, and the file is removed)
 *   log       written: a line for each end of an action: RANK ACTION RESULT, and of a restore on other GPUs the
 *             first one's UUID
 *   memory-*  'device' memory: there only while a process is not suspended */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    OPERATING_SYSTEM = 304,
    ILLEGAL_STATE = 401,
    NOT_READY = 600,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999
};

/* CUprocessState */
enum { RUNNING = 0, LOCKED = 1, CHECKPOINTED = 2, FAILED = 3 };

enum { MOST_GPUS = 8, NAME_BYTES = 64, UUID_BYTES = 16 };

enum action { LOCK = 1, CHECKPOINT, RESTORE, UNLOCK };

struct gpu {
    unsigned char uuid[UUID_BYTES];
    size_t memory; /* bytes */
    char name[NAME_BYTES];
};

/* CUcheckpointGpuPair */
struct gpu_pair {
    unsigned char before[UUID_BYTES], after[UUID_BYTES];
};

/* What one process has another one do: written into its memory, where its thread finds it. */
struct standin_control {
    volatile uint32_t asked, done; /* numbers of requests */
    volatile uint32_t state;
    volatile int32_t thread; /* 0: the process has no CUDA state */
    uint32_t action, timeout_ms, pairs;
    int32_t result;
    struct gpu_pair pair[MOST_GPUS];
};

extern struct standin_control standin_control;

/* Reads the file of GPUs; their number, or -1. */
int standin_gpus(struct gpu *gpus);

/* A file of the directory; NULL where there is none. */
FILE *standin_file(const char *name, const char *mode);

/* Removes one. */
void standin_forget(const char *name);

/* The number in PMI_RANK; 0 without it. */
int standin_rank(void);

/* Does it in this process: the thread's work. */
int standin_act(enum action action, unsigned timeout_ms, const struct gpu_pair *pairs, unsigned count);

/* Begins to wait for what others ask. */
int standin_listen(void);

#endif
