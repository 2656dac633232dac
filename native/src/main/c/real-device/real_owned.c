/* What a real device holds in this process, and an image must not: its descriptors, and the queues that its provider
 * has mapped from the kernel. */
#include "real_device.h"
#include "real_library.h"
#include "agent-client/control.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_RANGES = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct channel {
    struct ibv_comp_channel *real;
    struct channel *next;
} * channels;
/* at the last checkpoint: a restored process finds them reserved */
static struct udckpt_owned_range mapped[MAX_RANGES];
static int mapped_count;

struct ibv_comp_channel *real_create_comp_channel(struct ibv_context *context)
{
    struct channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->real = REAL_CALL(real_library()->ibv_create_comp_channel(context));
    if (!channel->real) {
        free(channel);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    channel->next = channels;
    channels = channel;
    pthread_mutex_unlock(&mutex);
    return channel->real;
}

static void remove_channel(struct ibv_comp_channel *real)
{
    pthread_mutex_lock(&mutex);
    struct channel **link = &channels;
    while (*link && (*link)->real != real)
        link = &(*link)->next;
    struct channel *gone = *link;
    if (gone)
        *link = gone->next;
    pthread_mutex_unlock(&mutex);
    free(gone);
}

int real_destroy_comp_channel(struct ibv_comp_channel *real)
{
    int error = REAL_CALL(real_library()->ibv_destroy_comp_channel(real));
    if (!error)
        remove_channel(real);
    return error;
}

static void add(int fd, int *fds, int max, int *count)
{
    if (*count < max)
        fds[*count] = fd;
    ++*count;
}

int real_owned_fds(struct ibv_context *context, int *fds, int max)
{
    int count = 0;
    add(context->cmd_fd, fds, max, &count);
    add(context->async_fd, fds, max, &count);
    pthread_mutex_lock(&mutex);
    for (struct channel *channel = channels; channel; channel = channel->next)
        if (channel->real->context == context)
            add(channel->real->fd, fds, max, &count);
    pthread_mutex_unlock(&mutex);
    return count;
}

/* Providers map their queues from the context's descriptor, so all of them carry the device's path. The open of such a
 * file behind the library is refused (interposer_files.c), so none is anybody else's. */
int real_owned_ranges(struct udckpt_owned_range *ranges, int max)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    mapped_count = 0;
    if (!maps)
        return -1;
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        if (!strstr(line, " /dev/infiniband/") || sscanf(line, "%lx-%lx", &start, &end) != 2)
            continue;
        if (mapped_count == MAX_RANGES || mapped_count == max) {
            control_log("QUIESCE: more than %d mappings of verbs devices", mapped_count);
            mapped_count = -1;
            break;
        }
        mapped[mapped_count] = ranges[mapped_count] = (struct udckpt_owned_range){start, end};
        mapped_count++;
    }
    fclose(maps);
    return mapped_count;
}

/* The provider's own memory of a context and its objects stays allocated: only its functions could free it, and those
 * would talk to descriptors that are gone, or by now are other files. Some kilobytes an object and restart. */
void real_forget(struct ibv_context *context)
{
    for (int i = 0; i < mapped_count; i++)
        if (munmap((void *)mapped[i].start, mapped[i].end - mapped[i].start))
            control_log("munmap of a device's range at 0x%lx: %s", (unsigned long)mapped[i].start, strerror(errno));
    mapped_count = 0;
    real_regions_forget(); /* of all contexts: none has regions again before all of them are forgotten */
    pthread_mutex_lock(&mutex);
    for (struct channel **link = &channels; *link;) {
        struct channel *channel = *link;
        if (channel->real->context == context) {
            *link = channel->next;
            free(channel);
        } else {
            link = &channel->next;
        }
    }
    pthread_mutex_unlock(&mutex);
}
