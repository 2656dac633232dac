/* The socket to the agent, and whole messages over it. */
#define _GNU_SOURCE
#include "control.h"
#include "common/unix_peer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Out of the way of programs that expect the first free numbers, but inside the usual table of 1024. */
static int move_high(int fd)
{
    struct rlimit limit;
    int base = 960;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024)
        base = limit.rlim_cur > 128 ? (int)limit.rlim_cur - 64 : 3;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, base);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

int control_connect(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/agent.sock", directory);
    if (length >= (int)sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) || unix_peer_check(fd)) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return move_high(fd);
}

int control_send(int fd, const void *message)
{
    const char *bytes = message;
    size_t left = ((const struct udckpt_message_header *)message)->length;
    while (left) {
        ssize_t sent = send(fd, bytes, left, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        bytes += sent;
        left -= sent;
    }
    return 0;
}

static ssize_t read_exactly(int fd, char *bytes, size_t wanted)
{
    size_t have = 0;
    while (have < wanted) {
        ssize_t got = read(fd, bytes + have, wanted - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            return 0;
        have += got;
    }
    return have;
}

ssize_t control_receive(int fd, void *buffer, size_t size)
{
    struct udckpt_message_header *header = buffer;
    ssize_t got = read_exactly(fd, buffer, sizeof *header);
    if (got <= 0)
        return got;
    if (header->length < sizeof *header || header->length > size) {
        errno = EPROTO;
        return -1;
    }
    if (header->length == sizeof *header)
        return got;
    got = read_exactly(fd, (char *)buffer + sizeof *header, header->length - sizeof *header);
    return got <= 0 ? got : (ssize_t)header->length;
}

/* Answers IDENTIFY. The agent of another build is told our hash and ends the connection by itself. */
int control_hello(int fd, const struct udckpt_msg_identify *identify, uint32_t role)
{
    struct udckpt_msg_hello hello = {
        .length = sizeof hello,
        .type = UDCKPT_MSG_HELLO,
        .cookie = identify->cookie,
        .layout_hash = UDCKPT_LAYOUT_HASH,
        .tree = control.started_rank,
        .pid = getpid(),
        .role = role,
        .fd = fd,
        .generation = control.generation,
        .rank = control.rank,
        .mpi_rank = control.mpi_rank,
    };
    if (identify->layout_hash != UDCKPT_LAYOUT_HASH)
        control_log(
            "the agent is of another build (layout 0x%llx, libudckpt.so has 0x%llx): install both from one build",
            (unsigned long long)identify->layout_hash, (unsigned long long)UDCKPT_LAYOUT_HASH);
    return control_send(fd, &hello);
}
