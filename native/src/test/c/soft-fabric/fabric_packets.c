#include "fabric_packets.h"
#include "soft-fabric/soft_rc_wire.h"
#include <arpa/inet.h>
#include <endian.h>
#include <stddef.h>
#include <sys/socket.h>

enum { FIRST_NUMBER = 3000, PAYLOAD = 1024 };

static uint64_t state;

void packet_seed(uint64_t seed)
{
    state = seed;
}

uint32_t packet_chance(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

static struct sockaddr_in address(uint16_t lid, uint32_t qpn)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)qpn),
                                .sin_addr.s_addr = htonl(127u << 24 | 77u << 16 | lid)};
}

struct packet_peer packet_peer(uint16_t lid)
{
    struct packet_peer peer = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), .qpn = FIRST_NUMBER, .lid = lid};
    struct sockaddr_in at;
    do {
        at = address(lid, ++peer.qpn);
    } while (bind(peer.fd, (struct sockaddr *)&at, sizeof at));
    return peer;
}

void record_packets(struct packets *packets, int fd)
{
    ssize_t got;
    while (packets->count < PACKETS && (got = recv(fd, packets->each[packets->count].bytes, LONGEST_PACKET, 0)) > 0)
        packets->each[packets->count++].length = (size_t)got;
}

static void add(struct packets *packets, struct soft_rc_wire header, uint32_t queue, size_t payload)
{
    CHECK(packets->count < PACKETS);
    uint8_t *to = packets->each[packets->count].bytes;
    header.magic = htonl(SOFT_RC_MAGIC);
    memcpy(to, &header, sizeof header);
    to += sizeof header;
    if (queue) {
        uint32_t number = htonl(queue);
        memcpy(to, &number, SOFT_XRC_BYTES);
        to += SOFT_XRC_BYTES;
    }
    memset(to, packets->count, payload);
    packets->each[packets->count].length = (size_t)(to - packets->each[packets->count].bytes) + payload;
    packets->count++;
}

static struct soft_rc_wire header_of(struct packet_names names, uint8_t opcode, unsigned flags, uint32_t length)
{
    return (struct soft_rc_wire){.opcode = opcode,
                                 .flags = (uint8_t)flags,
                                 .rkey = htonl(names.rkey),
                                 .address = htobe64(names.address),
                                 .length = htonl(length),
                                 .immediate = htonl(names.rkey)};
}

/* Whole messages, and the first, middle and last part of one. */
static void add_messages(struct packets *packets, struct packet_names names, uint32_t queue)
{
    static const uint8_t opcodes[] = {SOFT_RC_SEND, SOFT_RC_WRITE, SOFT_RC_SEND_INVALIDATE};
    static const unsigned parts[] = {SOFT_RC_FIRST | SOFT_RC_LAST,
                                     SOFT_RC_FIRST,
                                     0,
                                     SOFT_RC_LAST,
                                     SOFT_RC_LAST | SOFT_RC_IMMEDIATE | SOFT_RC_SOLICITED,
                                     SOFT_RC_FIRST | SOFT_RC_LAST | SOFT_RC_IMMEDIATE};
    for (size_t o = 0; o < sizeof opcodes; o++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            uint32_t whole = parts[i] == (SOFT_RC_FIRST | SOFT_RC_LAST) ? PAYLOAD / 2 : 3 * PAYLOAD;
            add(packets, header_of(names, opcodes[o], parts[i], whole), queue, whole < PAYLOAD ? whole : PAYLOAD);
        }
    add(packets, header_of(names, SOFT_RC_WRITE, SOFT_RC_FIRST | SOFT_RC_LAST, 0), queue, 0);
}

static void add_reads(struct packets *packets, struct packet_names names, uint32_t queue)
{
    unsigned whole = SOFT_RC_FIRST | SOFT_RC_LAST;
    add(packets, header_of(names, SOFT_RC_READ, whole, 3 * PAYLOAD), queue, 0);
    add(packets, header_of(names, SOFT_RC_READ, whole, 0), queue, 0);
    add(packets, header_of(names, SOFT_RC_COMPARE_SWAP, whole, 8), queue, sizeof(struct soft_rc_operands));
    add(packets, header_of(names, SOFT_RC_FETCH_ADD, whole, 8), queue, sizeof(struct soft_rc_operands));
}

static void add_answers(struct packets *packets, struct packet_names names)
{
    static const uint32_t codes[] = {SOFT_RC_NAK_SEQUENCE,  SOFT_RC_NAK_INVALID, SOFT_RC_NAK_ACCESS,
                                     SOFT_RC_NAK_OPERATION, SOFT_RC_RNR | 1,     77};
    add(packets, header_of(names, SOFT_RC_READ_RESPONSE, 0, 0), 0, PAYLOAD);
    add(packets, header_of(names, SOFT_RC_READ_RESPONSE, 0, 0), 0, 0);
    add(packets, header_of(names, SOFT_RC_ATOMIC_RESPONSE, 0, 0), 0, 0);
    add(packets, header_of(names, SOFT_RC_ACK, 0, 0), 0, 0);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct soft_rc_wire nak = header_of(names, SOFT_RC_NAK, 0, 0);
        nak.code = htonl(codes[i]);
        add(packets, nak, 0, 0);
    }
}

void build_packets(struct packets *packets, struct packet_names names)
{
    add_messages(packets, names, names.queue);
    add_reads(packets, names, names.queue);
    if (names.other_queue) {
        add_messages(packets, names, names.other_queue);
        add_reads(packets, names, names.other_queue);
    }
    add_answers(packets, names);
}

static void put_word(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, sizeof value);
}

static void deliver(struct packet_peer peer, const uint8_t *bytes, size_t length)
{
    struct sockaddr_in to = address(peer.lid, peer.own);
    CHECK(sendto(peer.fd, bytes, length, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)length);
}

void deliver_packet(const struct packets *packets, int which, struct packet_peer peer, uint32_t psn)
{
    uint8_t bytes[LONGEST_PACKET];
    uint16_t lid = htons(peer.lid);
    memcpy(bytes, packets->each[which].bytes, packets->each[which].length);
    put_word(bytes + offsetof(struct soft_rc_wire, destination_qpn), peer.own);
    put_word(bytes + offsetof(struct soft_rc_wire, source_qpn), peer.qpn);
    memcpy(bytes + offsetof(struct soft_rc_wire, source_lid), &lid, sizeof lid);
    put_word(bytes + offsetof(struct soft_rc_wire, psn), psn);
    deliver(peer, bytes, packets->each[which].length);
}

static size_t change(uint8_t *bytes, size_t length)
{
    for (uint32_t changes = packet_chance() % 8; changes; changes--) {
        size_t at = packet_chance() % (packet_chance() % 2 ? 64 : length);
        at = at < length ? at : 0;
        bytes[at] = (uint8_t)(packet_chance() % 3 ? bytes[at] ^ 1u << packet_chance() % 8 : packet_chance());
    }
    if (packet_chance() % 4 == 0)
        return packet_chance() % (length + 1);
    return packet_chance() % 16 ? length : length + packet_chance() % (LONGEST_PACKET - length);
}

/* Where a packet comes from; its number is often one that comes soon after the connection was made. */
static void address_packet(uint8_t *bytes, size_t length, struct packet_peer peer)
{
    uint16_t lid = htons(peer.lid);
    if (length < sizeof(struct soft_rc_wire))
        return;
    memcpy(bytes + offsetof(struct soft_rc_wire, source_lid), &lid, sizeof lid);
    if (packet_chance() % 2)
        put_word(bytes + offsetof(struct soft_rc_wire, psn), packet_chance() % 6);
}

/* The header's first word says what it is, the second where it goes, the word at `source` where it comes from: so it
 * gets through. */
void deliver_changed(const struct packets *packets, struct packet_peer peer, size_t source)
{
    uint8_t bytes[LONGEST_PACKET] = {0};
    int which = (int)(packet_chance() % (unsigned)packets->count);
    size_t length = packets->each[which].length;
    memcpy(bytes, packets->each[which].bytes, length);
    length = change(bytes, length);
    memcpy(bytes, packets->each[which].bytes, length < 4 ? length : 4);
    if (length >= source + 4) {
        put_word(bytes + 4, peer.own);
        put_word(bytes + source, peer.qpn);
    }
    if (source == PACKET_SOURCE)
        address_packet(bytes, length, peer);
    deliver(peer, bytes, length);
}

void forget_answers(struct packet_peer peer)
{
    char byte;
    while (recv(peer.fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
        ;
}
