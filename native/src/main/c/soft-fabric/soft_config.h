/* The simulated host: its LID, its QPN range, its network and its faults. */
#pragma once
#include "soft_mac.h"
#include "soft_rc_wire.h"
#include "soft_wire.h"
#include "device/verbs_device.h"
#include <netinet/in.h>
#include <stdbool.h>

#define SOFT_LID_MAX 0xbfffu /* the last unicast LID, InfiniBand Architecture 1.2.1, section 4.1.3 */
#define SOFT_QPN_FIRST 0x4000u
#define SOFT_QPN_LAST 0xffffu
#define SOFT_DEVICES_MAX 8u
#define SOFT_PORTS_MAX 4u
#define SOFT_FIRST_KEY_MAX 0xffffu

/* UDCKPT_SOFT_TAGS */
enum soft_tags { SOFT_TAGS_BETWEEN_HOSTS, SOFT_TAGS_ALWAYS, SOFT_TAGS_NEVER, SOFT_TAGS_TEST };

struct soft_config {
    uint16_t lid; /* of the first port of the first device; in an open context, of the first port of its own */
    unsigned devices, ports; /* of this host; ports of each device. Their LIDs follow each other */
    uint32_t qpn_first, qpn_last;
    uint32_t network;                /* upper 16 bits of every host's IPv4 address */
    uint32_t doorbell_network;       /* of the addresses that wake sleepers for solicited sends; 0 = none */
    double loss, duplicate, reorder; /* per cent of datagrams sent */
    uint64_t seed;
    uint32_t first_key; /* where each context begins to count its memory keys; 0 = another place each time */
    enum soft_tags tags;
    bool tagged; /* datagrams carry tags: the agent has given a key, and the network reaches other hosts (soft_tag.h) */
    struct soft_mac_key key;
};

/* The configuration in force, read from the environment on first use; NULL when that is wrong (a
 * message naming the variable was printed and errno is EINVAL). */
const struct soft_config *soft_config(void);
/* How many devices this host has; 0 where the environment is wrong. Async-signal-safe. */
unsigned soft_devices(void);
int soft_configure(const struct device_config *config);
/* Sets the secret of this incarnation of the job, or NULL, for devices that are opened from now on. */
void soft_set_key(const uint8_t key[SOFT_MAC_KEY]);

/* IPv4 address of the host with this LID. */
static inline in_addr_t soft_host(uint32_t network, uint16_t lid)
{
    return htonl(network | lid);
}

/* LID of a port, counted from 1, of the device that `config` was opened for. */
static inline uint16_t soft_port_lid(const struct soft_config *config, unsigned port)
{
    return (uint16_t)(config->lid + port - 1);
}

/* How datagrams and packets begin, and what lies before the payload. */
static inline uint32_t soft_wire_magic(const struct soft_config *config)
{
    return config->tagged ? SOFT_WIRE_MAGIC_TAGGED : SOFT_WIRE_MAGIC;
}
static inline uint32_t soft_rc_magic(const struct soft_config *config)
{
    return config->tagged ? SOFT_RC_MAGIC_TAGGED : SOFT_RC_MAGIC;
}
static inline uint32_t soft_header_bytes(const struct soft_config *config)
{
    return (uint32_t)(sizeof(struct soft_wire) + (config->tagged ? sizeof(struct soft_tag) : 0));
}
static inline uint32_t soft_rc_header_bytes(const struct soft_config *config)
{
    return (uint32_t)(sizeof(struct soft_rc_wire) + (config->tagged ? sizeof(struct soft_tag) : 0));
}

union ibv_gid soft_gid(uint16_t lid);
__be64 soft_guid(uint16_t lid);
