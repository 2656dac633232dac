/* What one packet of a reliable connection looks like on the fabric: this header, between hosts a tag (soft_wire.h),
 * then the payload. The first two fields lie where they lie in a datagram's header (soft_wire.h); all are in network
 * order. */
#pragma once
#include <linux/types.h>
#include <stdint.h>

#define SOFT_RC_MAGIC 0x55444352u        /* "UDCR": reliable connection, version 1 */
#define SOFT_RC_MAGIC_TAGGED 0x55444354u /* "UDCT": the same with a tag */

enum soft_rc_opcode {
    SOFT_RC_SEND,
    SOFT_RC_WRITE,
    SOFT_RC_READ,
    SOFT_RC_COMPARE_SWAP,
    SOFT_RC_FETCH_ADD,
    SOFT_RC_SEND_INVALIDATE, /* `immediate`: the key, as the program has it */
    SOFT_RC_READ_RESPONSE,
    SOFT_RC_ATOMIC_RESPONSE,
    SOFT_RC_ACK, /* all before `psn`, inclusive, were taken */
    SOFT_RC_NAK, /* all before `psn`, exclusive, were taken; `code` says why that one was not */
};

enum soft_rc_flag {
    SOFT_RC_FIRST = 1,
    SOFT_RC_LAST = 2,
    SOFT_RC_SOLICITED = 4,
    SOFT_RC_IMMEDIATE = 8,
};

/* InfiniBand Architecture 1.2.1, section 9.7.5.2.8. A receiver that is not ready sends the low five bits
 * of SOFT_RC_RNR as its timer code. */
enum soft_rc_nak {
    SOFT_RC_NAK_SEQUENCE,
    SOFT_RC_NAK_INVALID,
    SOFT_RC_NAK_ACCESS,
    SOFT_RC_NAK_OPERATION,
    SOFT_RC_RNR = 0x20,
};

struct soft_rc_wire {
    __be32 magic;
    __be32 destination_qpn;
    __be32 source_qpn;
    __be16 source_lid;
    uint8_t opcode; /* enum soft_rc_opcode */
    uint8_t flags;  /* enum soft_rc_flag */
    __be32 psn;     /* 24 bits */
    union {
        __be32 rkey;
        __be32 code; /* of a NAK */
    };
    union {
        __be64 address; /* of this packet's part */
        __be64 value;   /* what an atomic found */
    };
    __be32 length; /* of the whole message; of a read request: of what this packet asks for */
    __be32 immediate;
};
_Static_assert(sizeof(struct soft_rc_wire) == 40, "the header of a reliable packet is 40 bytes");

/* Of an XRC initiator's requests the first bytes of the payload are the number of the shared receive queue: the XRCETH
 * of InfiniBand Architecture 1.2.1, annex A14. */
#define SOFT_XRC_BYTES sizeof(__be32)

/* The operands of an atomic, as its payload. */
struct soft_rc_operands {
    __be64 compare, swap_or_add;
};
