#include "keys_file.h"
#include "agent-client/control.h"
#include "common/system_calls.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 1 << UDCKPT_KEYS_BITS, MOST = SLOTS / 2, NO_KEY = 0 };
#define FILE_BYTES (sizeof(struct udckpt_keys_header) + SLOTS * sizeof(uint64_t))
#define GONE (UINT64_C(0xffffffff) << 32) /* the probe goes on */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct udckpt_keys_header *own;
static unsigned used; /* slots that were ever taken */
static struct peer_keys *peers;

static uint64_t *slots_of(struct udckpt_keys_header *header)
{
    return (uint64_t *)(header + 1);
}

static void name_file(char *path, size_t size, int rank)
{
    snprintf(path, size, "%s/keys.%d", control.runtime_dir, rank);
}

static void *map_file(int rank, int flags, int protection)
{
    char path[sizeof control.runtime_dir + 32];
    name_file(path, sizeof path, rank);
    int fd = system_open(path, flags | O_CLOEXEC, 0600);
    struct stat status;
    void *map = MAP_FAILED;
    /* Not a hole: in a full /dev/shm its first use would be a SIGBUS, of which nobody knows why. */
    int no_room = fd >= 0 && (flags & O_CREAT) ? posix_fallocate(fd, 0, FILE_BYTES) : 0;
    if (no_room) {
        control_log("%s takes %zu KiB of the runtime directory: %s; make room there", path, FILE_BYTES / 1024,
                    strerror(no_room));
        unlink(path);
        errno = no_room;
    }
    if (fd >= 0 && !no_room && !fstat(fd, &status) && (size_t)status.st_size >= FILE_BYTES)
        map = mmap(NULL, FILE_BYTES, protection, MAP_SHARED, fd, 0);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return map == MAP_FAILED ? NULL : map;
}

/* Stand-alone there is one incarnation, in which keys are the device's. */
int keys_file_is_unread(void)
{
    return control.rank < 0 || __atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) == AGENT_NONE;
}

static int open_own(void)
{
    if (own || keys_file_is_unread())
        return 0;
    own = map_file(control.rank, O_RDWR | O_CREAT, PROT_READ | PROT_WRITE);
    if (!own)
        return errno;
    if (own->magic == UDCKPT_KEYS_MAGIC)
        memset(slots_of(own), 0,
               SLOTS * sizeof(uint64_t)); /* of a process that had this number before, and has ended */
    own->layout_hash = UDCKPT_LAYOUT_HASH;
    __atomic_store_n(&own->magic, UDCKPT_KEYS_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

static int put(uint32_t virtual_key, uint32_t real_key)
{
    uint64_t *slots = slots_of(own);
    for (uint32_t slot = keys_file_slot(virtual_key);; slot = (slot + 1) % SLOTS) {
        if (slots[slot] && slots[slot] != GONE)
            continue;
        if (!slots[slot] && used == MOST)
            return ENOMEM;
        used += !slots[slot];
        __atomic_store_n(&slots[slot], (uint64_t)virtual_key << 32 | real_key, __ATOMIC_RELEASE);
        return 0;
    }
}

int keys_file_open(void)
{
    pthread_mutex_lock(&mutex);
    int error = open_own();
    pthread_mutex_unlock(&mutex);
    return error;
}

int keys_file_publish(uint32_t virtual_key, uint32_t real_key)
{
    pthread_mutex_lock(&mutex);
    int error = open_own();
    if (!error && own && virtual_key != real_key)
        __atomic_store_n(&own->differ, 1, __ATOMIC_RELEASE); /* before anybody has been told this one */
    if (!error && own)
        error = put(virtual_key, real_key);
    pthread_mutex_unlock(&mutex);
    if (error)
        control_log("cannot publish remote key 0x%x to peers: %s", virtual_key,
                    error == ENOMEM ? "the table of keys is full" : strerror(error));
    return error;
}

static uint64_t *find(uint32_t virtual_key)
{
    uint64_t *slots = own ? slots_of(own) : NULL;
    for (uint32_t slot = keys_file_slot(virtual_key); slots && slots[slot]; slot = (slot + 1) % SLOTS)
        if (slots[slot] >> 32 == virtual_key)
            return &slots[slot];
    return NULL;
}

/* The nodes of peers go on knowing a key of an earlier incarnation by its pair of now, and are not told that the region
 * is gone: so the number stays taken. They were told no other ones but those from KEYS_GIVEN on, none of which is given
 * twice. */
void keys_file_withdraw(uint32_t virtual_key)
{
    pthread_mutex_lock(&mutex);
    uint64_t *slot = find(virtual_key);
    if (slot)
        __atomic_store_n(slot,
                         (uint32_t)*slot != virtual_key && virtual_key < UDCKPT_KEYS_GIVEN
                             ? (uint64_t)virtual_key << 32 | NO_KEY
                             : GONE,
                         __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
}

int keys_file_has_told(uint32_t virtual_key)
{
    pthread_mutex_lock(&mutex);
    int told = find(virtual_key) != NULL;
    pthread_mutex_unlock(&mutex);
    return told;
}

void keys_file_announce(uint32_t virtual_key, uint32_t real_key)
{
    if (virtual_key == real_key || keys_file_is_unread())
        return;
    int status = request_tell_key(virtual_key, real_key);
    if (status != REQUEST_OK)
        control_log("cannot publish remote key 0x%x to peers on other hosts: %s", virtual_key,
                    status == REQUEST_NO_AGENT ? "the agent is gone" : "see the agent's message");
}

uint32_t keys_file_ask(const struct peer_keys *keys, uint32_t key)
{
    uint32_t real;
    return request_find_key(keys->rank, key, &real) == REQUEST_OK ? real : key;
}

static struct peer_keys *map_peer(int rank)
{
    struct udckpt_keys_header *header = map_file(rank, O_RDONLY, PROT_READ);
    struct peer_keys *peer = header ? calloc(1, sizeof *peer) : NULL;
    if (!peer) {
        control_log("remote keys of rank %d: %s", rank, strerror(errno));
        return NULL;
    }
    peer->slots = slots_of(header);
    peer->differ = &header->differ;
    peer->rank = rank;
    peer->mirrored = header->mirrored != 0;
    peer->next = peers;
    peers = peer;
    return peer;
}

static struct peer_keys *known_peer(int rank)
{
    struct peer_keys *peer = peers;
    while (peer && peer->rank != rank)
        peer = peer->next;
    return peer;
}

/* Has the agent make the file of a rank of another node, which may take a while: no thread waits for the mutex
 * meanwhile. */
static void have_made(int rank)
{
    char path[sizeof control.runtime_dir + 32];
    name_file(path, sizeof path, rank);
    if (system_access(path, F_OK) && !keys_file_is_unread() && request_peer_keys(rank) == REQUEST_FAILED)
        control_log("remote keys of rank %d: the agent could not get them", rank);
}

const struct peer_keys *keys_file_of(int rank)
{
    pthread_mutex_lock(&mutex);
    struct peer_keys *peer = known_peer(rank);
    pthread_mutex_unlock(&mutex);
    if (peer)
        return peer;
    have_made(rank);
    pthread_mutex_lock(&mutex);
    peer = known_peer(rank);
    if (!peer)
        peer = map_peer(rank);
    pthread_mutex_unlock(&mutex);
    return peer;
}

/* A restored process has reservations in the place of the mappings (docs/internals/restore.md). */
void keys_file_forget(void)
{
    while (peers) {
        struct peer_keys *next = peers->next;
        munmap((char *)(uintptr_t)peers->slots - sizeof(struct udckpt_keys_header), FILE_BYTES);
        free(peers);
        peers = next;
    }
    if (own)
        munmap(own, FILE_BYTES);
    own = NULL;
    used = 0;
}

int keys_file_ranges(struct udckpt_owned_range *ranges, int max)
{
    int count = 0;
    pthread_mutex_lock(&mutex);
    if (own && count++ < max)
        ranges[count - 1] =
            (struct udckpt_owned_range){(uintptr_t)own, (uintptr_t)own + ((FILE_BYTES + 4095) & ~4095ul)};
    for (struct peer_keys *peer = peers; peer; peer = peer->next) {
        uint64_t start = (uintptr_t)peer->slots - sizeof(struct udckpt_keys_header);
        if (count++ < max)
            ranges[count - 1] = (struct udckpt_owned_range){start, start + ((FILE_BYTES + 4095) & ~4095ul)};
    }
    pthread_mutex_unlock(&mutex);
    return count;
}
