/* What one datagram of the soft fabric looks like: this header, between hosts a tag (soft_tag.h), then the payload.
 * All fields are in network order, which is also what the kernel's socket filter compares (soft_filter.c). */
#pragma once
#include <linux/types.h>
#include <stdint.h>

#define SOFT_WIRE_MAGIC 0x55444631u        /* "UDF1": fabric, version 1 */
#define SOFT_WIRE_MAGIC_TAGGED 0x55445431u /* "UDT1": the same with a tag */
#define SOFT_MTU 4096u
#define SOFT_GRH_BYTES 40u
#define SOFT_PKEY 0xffffu

enum soft_wire_flag {
    SOFT_WIRE_SOLICITED = 1,
    SOFT_WIRE_IMMEDIATE = 2,
    SOFT_WIRE_GRH = 4,
};

struct soft_wire {
    __be32 magic;
    __be32 destination_qpn;
    __be32 qkey;
    __be32 source_qpn;
    __be16 source_lid;
    __be16 pkey;
    __be32 immediate;
    uint8_t flags; /* enum soft_wire_flag */
    uint8_t service_level;
    uint8_t hop_limit;
    uint8_t reserved;
    __be32 version_class_flow; /* first word of the GRH */
};
_Static_assert(sizeof(struct soft_wire) == 32, "the wire header is 32 bytes");

/* Behind the header of a datagram or packet that goes to another host. The tag is AES-128-GMAC (NIST SP 800-38D) of
 * the header and the payload; its nonce is the source's LID and QPN, 2 bytes each, and the counter. */
struct soft_tag {
    __be64 counter; /* goes up with each datagram of a queue pair */
    uint8_t mac[16];
};
_Static_assert(sizeof(struct soft_tag) == 24, "a tag is 24 bytes");
