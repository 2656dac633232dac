#include "soft_filter.h"
#include "soft_rc_wire.h"
#include "soft_wire.h"
#include <errno.h>
#include <linux/filter.h>
#include <stddef.h>
#include <sys/socket.h>

/* a UDP socket's filter sees the datagram from its UDP header on, which begins with the source's port */
#define UDP_HEADER 8u
#define SOURCE_PORT 0u
#define SOURCE_ADDRESS ((uint32_t)SKF_NET_OFF + 12) /* in the IPv4 header */

#define LOAD(size, at) BPF_STMT(BPF_LD | (size) | BPF_ABS, at)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IS_X(yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, yes, no)
#define KEEP BPF_STMT(BPF_MISC | BPF_TAX, 0)
#define RETURN(bytes) BPF_STMT(BPF_RET | BPF_K, bytes)

static int set(int fd, struct sock_filter *code, unsigned short length)
{
    struct sock_fprog program = {.len = length, .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ? errno : 0;
}

int soft_filter_refuse(int fd)
{
    struct sock_filter code[] = {RETURN(0)};
    return set(fd, code, 1);
}

/* What becomes of one that comes from elsewhere than it says. */
static uint32_t refused(const struct soft_filter *filter)
{
    return filter->refuses ? 0 : UDP_HEADER + SOFT_REFUSED_BYTES;
}

int soft_filter_datagrams(int fd, const struct soft_filter *filter)
{
    const uint32_t at = UDP_HEADER;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, at + filter->header, 0, 17),
        LOAD(BPF_W, at + offsetof(struct soft_wire, magic)),
        IS(filter->magic, 0, 15),
        LOAD(BPF_W, at + offsetof(struct soft_wire, destination_qpn)),
        IS(filter->number, 0, 13),
        LOAD(BPF_W, at + offsetof(struct soft_wire, qkey)),
        IS(filter->qkey, 0, 11),
        LOAD(BPF_H, SOURCE_PORT),
        KEEP,
        LOAD(BPF_W, at + offsetof(struct soft_wire, source_qpn)),
        IS_X(0, 6),
        LOAD(BPF_H, at + offsetof(struct soft_wire, source_lid)),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, filter->network),
        KEEP,
        LOAD(BPF_W, SOURCE_ADDRESS),
        IS_X(0, 1),
        RETURN(0xffffffffu),
        RETURN(refused(filter)),
        RETURN(0),
    };
    return set(fd, code, sizeof code / sizeof *code);
}

int soft_filter_peer(int fd, const struct soft_filter *filter)
{
    const uint32_t at = UDP_HEADER;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, at + filter->header, 0, 14),
        LOAD(BPF_W, at + offsetof(struct soft_rc_wire, magic)),
        IS(filter->magic, 0, 12),
        LOAD(BPF_W, at + offsetof(struct soft_rc_wire, destination_qpn)),
        IS(filter->number, 0, 10),
        LOAD(BPF_W, at + offsetof(struct soft_rc_wire, source_qpn)),
        IS(filter->peer, 0, 8),
        LOAD(BPF_H, at + offsetof(struct soft_rc_wire, source_lid)),
        IS(filter->peer_lid, 0, 6),
        LOAD(BPF_H, SOURCE_PORT),
        IS(filter->peer, 0, 3),
        LOAD(BPF_W, SOURCE_ADDRESS),
        IS(filter->network | filter->peer_lid, 0, 1),
        RETURN(0xffffffffu),
        RETURN(refused(filter)),
        RETURN(0),
    };
    return set(fd, code, sizeof code / sizeof *code);
}
