/* What a peer may send: packets that were recorded or are built, one of each kind, and changes of them by chance. */
#pragma once
#include "fabric.h"
#include <stdint.h>

enum { PACKETS = 96, LONGEST_PACKET = 4400 };

struct packets {
    int count;
    struct {
        size_t length;
        uint8_t bytes[LONGEST_PACKET];
    } each[PACKETS];
};

/* A socket where a queue pair could be, and the queue pair that it sends to. */
struct packet_peer {
    int fd;
    uint32_t qpn; /* where the socket is */
    uint32_t own; /* the number of the queue pair */
    uint16_t lid; /* of both */
};

/* What packets name at the receiver. */
struct packet_names {
    uint64_t address;
    uint32_t rkey;
    uint32_t queue, other_queue; /* shared receive queues of XRC; 0: none */
};

enum { DATAGRAM_SOURCE = 12, PACKET_SOURCE = 8 }; /* where a header has the number of its sender */

/* Places of what build_packets() makes in an empty list: the first part of a send, and behind it a middle and a last
 * part, for `queue`; the same kinds for `other_queue` are further on. */
enum { FIRST_PART = 1, OF_OTHER_QUEUE = 23 };

void packet_seed(uint64_t seed);
uint32_t packet_chance(void);
struct packet_peer packet_peer(uint16_t lid);
void record_packets(struct packets *packets, int fd);
/* One of each kind: requests as a whole and in parts, answers, and refusals of each code. */
void build_packets(struct packets *packets, struct packet_names names);
/* Sends one of them as it is, as the peer's `psn`. */
void deliver_packet(const struct packets *packets, int which, struct packet_peer peer, uint32_t psn);
/* Sends one, chosen and changed by chance, from the peer to its queue pair. */
void deliver_changed(const struct packets *packets, struct packet_peer peer, size_t source);
/* Takes what the peer was sent, which nobody reads. */
void forget_answers(struct packet_peer peer);
