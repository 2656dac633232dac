/* What one datagram of the soft fabric looks like: this header, then the payload. All fields are in
 * network order, which is also what the kernel's socket filter compares (soft_socket.c). */
#pragma once
#include <linux/types.h>
#include <stdint.h>

#define SOFT_WIRE_MAGIC 0x55444631u /* "UDF1": fabric, version 1 */
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
