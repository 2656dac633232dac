/* The stand-in's devices, memory and kernels (standin_cuda.h): calls wait while the process is locked, and the memory
 * is a file that is gone while it is suspended. */
#define _GNU_SOURCE
#include "standin_cuda.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 64, MOST_KERNELS = 64, PAGE = 4096, MS_NS = 1000000 };

struct allocation {
    void *address;
    size_t size;
    struct gpu gpu;
    void *saved; /* host memory that has the content while the process is suspended */
    int number;
};

struct kernel {
    uint32_t *memory;
    size_t count;
    unsigned delay_ms;
    char awaited[PATH_MAX], made[PATH_MAX]; /* files; empty: none */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int initialized, device, locking, allocations_made;
static struct allocation allocations[MOST_ALLOCATIONS];
static struct kernel kernels[MOST_KERNELS];
static unsigned queued, finished;

static void sleep_ms(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * MS_NS};
    while (nanosleep(&time, &time) && errno == EINTR)
        ;
}

FILE *standin_file(const char *name, const char *mode)
{
    char path[PATH_MAX];
    const char *directory = getenv("STANDIN_CUDA_DIR");
    if (!directory)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, mode);
}

void standin_forget(const char *name)
{
    char path[PATH_MAX];
    const char *directory = getenv("STANDIN_CUDA_DIR");
    snprintf(path, sizeof path, "%s/%s", directory ? directory : "", name);
    unlink(path);
}

int standin_rank(void)
{
    const char *rank = getenv("PMI_RANK");
    return rank ? atoi(rank) : 0;
}

int standin_gpus(struct gpu *gpus)
{
    FILE *file = standin_file("gpus", "re");
    if (!file)
        return -1;
    int count = 0;
    char digits[2 * UUID_BYTES + 1];
    size_t mebibytes;
    while (count < MOST_GPUS && fscanf(file, "%32s %zu %63[^\n]", digits, &mebibytes, gpus[count].name) == 3) {
        gpus[count].memory = mebibytes << 20;
        for (int i = 0; i < UUID_BYTES; i++) {
            char byte[3] = {digits[2 * i], digits[2 * i + 1], 0};
            gpus[count].uuid[i] = (unsigned char)strtoul(byte, NULL, 16);
        }
        count++;
    }
    fclose(file);
    return count;
}

static void memory_path(char *path, const struct allocation *one)
{
    snprintf(path, PATH_MAX, "%s/memory-%d-%d", getenv("STANDIN_CUDA_DIR"), standin_rank(), one->number);
}

/* Maps a new file at its address, or at any. */
static void *attach(const struct allocation *one)
{
    char path[PATH_MAX];
    memory_path(path, one);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return MAP_FAILED;
    int fixed = one->address ? MAP_FIXED : 0;
    void *memory = ftruncate(fd, (off_t)one->size)
                       ? MAP_FAILED
                       : mmap(one->address, one->size, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
    close(fd);
    return memory;
}

/* Its address stays taken. */
static int detach(const struct allocation *one)
{
    char path[PATH_MAX];
    memory_path(path, one);
    unlink(path);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    return mmap(one->address, one->size, PROT_NONE, flags, -1, 0) == MAP_FAILED ? -1 : 0;
}

/* A call of the program's begins; it waits while the process is locked. */
static void enter(void)
{
    pthread_mutex_lock(&mutex);
    while (standin_control.state != RUNNING || locking)
        pthread_cond_wait(&changed, &mutex);
}

static int leave(int result)
{
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return result;
}

static void run(const struct kernel *kernel)
{
    sleep_ms(kernel->delay_ms);
    if (kernel->made[0]) {
        int fd = open(kernel->made, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
    }
    while (kernel->awaited[0] && access(kernel->awaited, F_OK))
        sleep_ms(1);
    for (size_t i = 0; i < kernel->count; i++)
        kernel->memory[i]++;
}

static void *run_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (finished == queued)
            pthread_cond_wait(&changed, &mutex);
        struct kernel kernel = kernels[finished % MOST_KERNELS];
        pthread_mutex_unlock(&mutex);
        run(&kernel);
        pthread_mutex_lock(&mutex);
        finished++;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

int cuInit(unsigned flags)
{
    struct gpu gpus[MOST_GPUS];
    if (flags)
        return INVALID_VALUE;
    if (standin_gpus(gpus) <= 0)
        return NO_DEVICE;
    initialized = 1;
    return SUCCESS;
}

int cuDriverGetVersion(int *version)
{
    FILE *file = standin_file("version", "re");
    *version = 13000;
    if (file) {
        if (fscanf(file, "%d", version) != 1)
            *version = 0;
        fclose(file);
    }
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    struct gpu gpus[MOST_GPUS];
    *count = initialized ? standin_gpus(gpus) : 0;
    return initialized ? SUCCESS : NOT_INITIALIZED;
}

static int of_device(int number, struct gpu *gpu)
{
    struct gpu gpus[MOST_GPUS];
    if (!initialized)
        return NOT_INITIALIZED;
    if (number < 0 || number >= standin_gpus(gpus))
        return INVALID_VALUE;
    *gpu = gpus[number];
    return SUCCESS;
}

int cuDeviceGet(int *number, int ordinal)
{
    struct gpu gpu;
    *number = ordinal;
    return of_device(ordinal, &gpu);
}

int cuDeviceGetName(char *name, int length, int number)
{
    struct gpu gpu;
    int result = of_device(number, &gpu);
    if (!result)
        snprintf(name, (size_t)length, "%s", gpu.name);
    return result;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int number)
{
    struct gpu gpu;
    int result = of_device(number, &gpu);
    if (!result)
        memcpy(uuid, gpu.uuid, UUID_BYTES);
    return result;
}

int cuDeviceTotalMem_v2(size_t *bytes, int number)
{
    struct gpu gpu;
    int result = of_device(number, &gpu);
    if (!result)
        *bytes = gpu.memory;
    return result;
}

int cuCtxCreate_v2(void **context, unsigned flags, int number)
{
    (void)flags;
    struct gpu gpu;
    int result = of_device(number, &gpu);
    pthread_t thread;
    if (!result && (pthread_create(&thread, NULL, run_all, NULL) || standin_listen()))
        result = OPERATING_SYSTEM;
    device = number;
    *context = &device;
    return result;
}

int cuMemAlloc_v2(uint64_t *memory, size_t size)
{
    enter();
    struct allocation *one = allocations;
    while (one < allocations + MOST_ALLOCATIONS && one->size)
        one++;
    if (one == allocations + MOST_ALLOCATIONS || !size || of_device(device, &one->gpu))
        return leave(OUT_OF_MEMORY);
    one->size = (size + PAGE - 1) / PAGE * PAGE;
    one->address = NULL;
    one->number = allocations_made++;
    one->address = attach(one);
    if (one->address == MAP_FAILED) {
        one->size = 0;
        return leave(OUT_OF_MEMORY);
    }
    *memory = (uint64_t)one->address;
    return leave(SUCCESS);
}

int cuMemFree_v2(uint64_t memory)
{
    enter();
    for (struct allocation *one = allocations; one < allocations + MOST_ALLOCATIONS; one++)
        if (one->size && (uint64_t)one->address == memory) {
            detach(one);
            munmap(one->address, one->size);
            one->size = 0;
            return leave(SUCCESS);
        }
    return leave(INVALID_VALUE);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    enter();
    memcpy((void *)to, from, bytes);
    return leave(SUCCESS);
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    enter();
    memcpy(to, (void *)from, bytes);
    return leave(SUCCESS);
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    enter();
    int failed = posix_memalign(memory, PAGE, bytes);
    return leave(failed ? OUT_OF_MEMORY : SUCCESS);
}

int cuMemFreeHost(void *memory)
{
    free(memory);
    return SUCCESS;
}

/* Not of CUDA: queues a kernel that adds 1 to each number, later, and once the file that it waits for is there. */
int standin_launch(uint64_t memory, size_t count, unsigned delay_ms, const char *made, const char *awaited)
{
    enter();
    if (queued - finished == MOST_KERNELS)
        return leave(LAUNCH_FAILED);
    struct kernel *kernel = &kernels[queued % MOST_KERNELS];
    *kernel = (struct kernel){.memory = (uint32_t *)memory, .count = count, .delay_ms = delay_ms};
    snprintf(kernel->made, sizeof kernel->made, "%s", made);
    snprintf(kernel->awaited, sizeof kernel->awaited, "%s", awaited);
    queued++;
    return leave(SUCCESS);
}

int cuCtxSynchronize(void)
{
    enter();
    unsigned until = queued;
    while ((int)(until - finished) > 0 || standin_control.state != RUNNING)
        pthread_cond_wait(&changed, &mutex);
    return leave(SUCCESS);
}

/* No call begins any more, and queued kernels end. */
static int lock(unsigned timeout_ms)
{
    locking = 1;
    for (unsigned waited = 0; finished != queued; waited++) {
        if (timeout_ms && waited >= timeout_ms) {
            locking = 0;
            pthread_cond_broadcast(&changed);
            return NOT_READY;
        }
        pthread_mutex_unlock(&mutex);
        sleep_ms(1);
        pthread_mutex_lock(&mutex);
    }
    standin_control.state = LOCKED;
    locking = 0;
    return SUCCESS;
}

static int save(void)
{
    for (struct allocation *one = allocations; one < allocations + MOST_ALLOCATIONS; one++) {
        if (!one->size)
            continue;
        one->saved = malloc(one->size);
        if (!one->saved)
            return OUT_OF_MEMORY;
        memcpy(one->saved, one->address, one->size);
        if (detach(one))
            return OPERATING_SYSTEM;
    }
    standin_control.state = CHECKPOINTED;
    return SUCCESS;
}

/* The GPU that one allocation comes back to; NULL: none of the same name is there. */
static const struct gpu *place(const struct allocation *one, const struct gpu_pair *pairs, unsigned count,
                               const struct gpu *gpus, int there)
{
    const unsigned char *wanted = one->gpu.uuid;
    for (unsigned i = 0; i < count; i++)
        if (!memcmp(pairs[i].before, one->gpu.uuid, UUID_BYTES))
            wanted = pairs[i].after;
    for (int i = 0; i < there; i++)
        if (!memcmp(gpus[i].uuid, wanted, UUID_BYTES) && !strcmp(gpus[i].name, one->gpu.name))
            return &gpus[i];
    return NULL;
}

static int bring_back(const struct gpu_pair *pairs, unsigned count)
{
    struct gpu gpus[MOST_GPUS];
    int there = standin_gpus(gpus);
    for (struct allocation *one = allocations; one < allocations + MOST_ALLOCATIONS; one++) {
        if (!one->size)
            continue;
        const struct gpu *gpu = place(one, pairs, count, gpus, there);
        if (!gpu)
            return NO_DEVICE;
        if (one->size > gpu->memory || attach(one) == MAP_FAILED)
            return OUT_OF_MEMORY;
        one->gpu = *gpu;
        memcpy(one->address, one->saved, one->size);
        free(one->saved);
        one->saved = NULL;
    }
    standin_control.state = LOCKED;
    return SUCCESS;
}

int standin_act(enum action action, unsigned timeout_ms, const struct gpu_pair *pairs, unsigned count)
{
    static const unsigned from[] = {
        [LOCK] = RUNNING, [CHECKPOINT] = LOCKED, [RESTORE] = CHECKPOINTED, [UNLOCK] = LOCKED};
    pthread_mutex_lock(&mutex);
    int result = ILLEGAL_STATE;
    if (standin_control.state == from[action])
        switch (action) {
        case LOCK:
            result = lock(timeout_ms);
            break;
        case CHECKPOINT:
            result = save();
            break;
        case RESTORE:
            result = bring_back(pairs, count);
            break;
        case UNLOCK:
            standin_control.state = RUNNING;
            result = SUCCESS;
        }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return result;
}
