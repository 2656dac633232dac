/* Tags of datagrams (soft_tag.h), with UDCKPT_SOFT_TAGS=test: what is taken of a peer that has the key, and of one
 * that has not. Linked with soft_mac.c, by which it makes tags of its own. */
#include "fabric.h"
#include "soft-fabric/soft_mac.h"
#include "soft-fabric/soft_wire.h"
#include <arpa/inet.h>
#include <endian.h>
#include <sys/socket.h>

enum { TEXT = 704, WINDOW = 1984 /* SEEN of soft_replay.c */ };

/* A socket where a queue pair could be. */
struct peer {
    int fd;
    uint16_t lid, qpn;
    uint64_t counter;
};

struct forged {
    struct soft_wire wire;
    struct soft_tag tag;
    char text[TEXT];
};

static const uint8_t key[SOFT_MAC_KEY]; /* of UDCKPT_SOFT_TAGS=test */

static uint16_t lid_of(struct ibv_context *context)
{
    struct ibv_port_attr port;
    EQUAL(0, ibv_query_port(context, 1, &port));
    return port.lid;
}

static struct sockaddr_in address(uint16_t lid, uint32_t qpn)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)qpn),
                                .sin_addr.s_addr = htonl(127u << 24 | 77u << 16 | lid)};
}

static struct peer make_peer(struct end *end)
{
    struct peer peer = {socket(AF_INET, SOCK_DGRAM, 0), lid_of(end->context), 3000, 1000};
    struct sockaddr_in at;
    do {
        at = address(peer.lid, ++peer.qpn);
    } while (bind(peer.fd, (struct sockaddr *)&at, sizeof at));
    return peer;
}

static struct forged forge(struct peer *peer, struct end *to, unsigned seed, uint64_t counter)
{
    struct forged forged = {.wire = {.magic = htonl(SOFT_WIRE_MAGIC_TAGGED),
                                     .destination_qpn = htonl(to->qp->qp_num),
                                     .qkey = htonl(QKEY),
                                     .source_qpn = htonl(peer->qpn),
                                     .source_lid = htons(peer->lid),
                                     .pkey = 0xffff},
                            .tag.counter = htobe64(counter)};
    struct soft_mac_key made;
    uint8_t nonce[SOFT_MAC_NONCE];
    uint16_t source[2] = {htons(peer->lid), htons(peer->qpn)};
    struct iovec pieces[2] = {{&forged.wire, sizeof forged.wire}, {forged.text, TEXT}};
    fill(forged.text, TEXT, seed);
    memcpy(nonce, source, sizeof source);
    memcpy(nonce + sizeof source, &forged.tag.counter, sizeof forged.tag.counter);
    soft_mac_prepare(&made, key);
    soft_mac(&made, nonce, pieces, sizeof forged.wire + TEXT, forged.tag.mac);
    return forged;
}

static void deliver(struct peer *peer, struct end *to, const struct forged *forged, size_t size)
{
    struct sockaddr_in at = address(lid_of(to->context), to->qp->qp_num);
    EQUAL(size, sendto(peer->fd, forged, size, 0, (struct sockaddr *)&at, sizeof at));
}

/* The only thing that comes is this one, and the receives are used in order. */
static void expect(struct end *end, unsigned seed)
{
    static size_t next;
    struct ibv_wc wc;
    EQUAL(1, poll_for(end->recv_cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(TEXT + GRH, wc.byte_len);
    EQUAL(next % 64 * 1024, wc.wr_id);
    CHECK(is_filled(end->memory + wc.wr_id + GRH, TEXT, seed));
    EQUAL(0, post_recv(end, wc.wr_id, 1000));
    next++;
}

static struct end receiver(void)
{
    struct end end = make_end((struct end_options){0});
    for (size_t i = 0; i < 64; i++)
        EQUAL(0, post_recv(&end, i * 1024, 1000));
    return end;
}

static void send_one(struct peer *peer, struct end *to, unsigned seed)
{
    struct forged forged = forge(peer, to, seed, ++peer->counter);
    deliver(peer, to, &forged, sizeof forged);
}

/* Each bit of the header behind the magic and what the kernel looks at, of the tag, and of the text. Between them is
 * one that is right. */
static void changed(void)
{
    struct end end = receiver();
    struct peer peer = make_peer(&end);
    for (size_t bit = 8 * offsetof(struct soft_wire, pkey); bit < 8 * sizeof(struct forged);
         bit += bit < 8 * sizeof(struct soft_wire) + 8 * sizeof(struct soft_tag) ? 1 : 97) {
        struct forged forged = forge(&peer, &end, 1, ++peer.counter);
        ((uint8_t *)&forged)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        deliver(&peer, &end, &forged, sizeof forged);
        if (bit % 5 == 0)
            send_one(&peer, &end, (unsigned)bit);
        if (bit % 5 == 0)
            expect(&end, (unsigned)bit);
    }
    CHECK(stays_empty(end.recv_cq));
}

/* A tag says something of the whole. */
static void shortened(void)
{
    struct end end = receiver();
    struct peer peer = make_peer(&end);
    for (size_t size = 0; size < sizeof(struct forged);
         size += size < sizeof(struct soft_wire) + sizeof(struct soft_tag) + 4 ? 1 : 50) {
        struct forged forged = forge(&peer, &end, 1, ++peer.counter);
        deliver(&peer, &end, &forged, size);
        send_one(&peer, &end, (unsigned)size);
        expect(&end, (unsigned)size);
    }
    CHECK(stays_empty(end.recv_cq));
}

/* Of a datagram for another queue pair, or of another source, each of which is right. */
static void redirected(void)
{
    struct end a = receiver(), b = make_end((struct end_options){.share = &a});
    struct peer peer = make_peer(&a), other = make_peer(&a);
    EQUAL(0, post_recv(&b, 0x20000, 1000));
    struct forged forged = forge(&peer, &a, 1, ++peer.counter);
    forged.wire.destination_qpn = htonl(b.qp->qp_num);
    deliver(&peer, &b, &forged, sizeof forged);
    forged = forge(&peer, &a, 1, ++peer.counter);
    forged.wire.source_qpn = htonl(other.qpn);
    deliver(&other, &a, &forged, sizeof forged);
    CHECK(stays_empty(b.recv_cq));
    CHECK(stays_empty(a.recv_cq));
}

/* In any order, but each once, and none that is far behind the latest. */
static void replayed(void)
{
    struct end end = receiver();
    struct peer peer = make_peer(&end);
    const uint64_t first = 5000;
    static const int order[] = {0, 3, 1, 2, 60, 59, 70, 4, 200, 150, 71, 255, 5};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (int again = 0; again < 3; again++) {
            struct forged forged = forge(&peer, &end, (unsigned)i, first + (uint64_t)order[i]);
            deliver(&peer, &end, &forged, sizeof forged);
            if (!again)
                expect(&end, (unsigned)i);
            else
                CHECK(stays_empty(end.recv_cq));
        }
    struct forged late = forge(&peer, &end, 7, first + 255 - WINDOW), far = forge(&peer, &end, 9, 1ull << 60);
    deliver(&peer, &end, &late, sizeof late);
    CHECK(stays_empty(end.recv_cq));
    deliver(&peer, &end, &far, sizeof far);
    expect(&end, 9);
    CHECK(stays_empty(end.recv_cq));
}

/* Many sources, each with counters of its own. */
static void sources(void)
{
    enum { PEERS = 100 };
    struct end end = receiver();
    struct peer peers[PEERS];
    for (int i = 0; i < PEERS; i++) {
        peers[i] = make_peer(&end);
        peers[i].counter = (uint64_t)rand() << 20;
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < PEERS; i++) {
            struct forged forged = forge(&peers[i], &end, (unsigned)i, ++peers[i].counter);
            deliver(&peers[i], &end, &forged, sizeof forged);
            deliver(&peers[i], &end, &forged, sizeof forged);
            expect(&end, (unsigned)i);
        }
    CHECK(stays_empty(end.recv_cq));
}

/* Without a tag, by the magic of those that have none. */
static void untagged(void)
{
    struct end end = receiver();
    struct peer peer = make_peer(&end);
    struct forged forged = forge(&peer, &end, 1, ++peer.counter);
    forged.wire.magic = htonl(SOFT_WIRE_MAGIC);
    deliver(&peer, &end, &forged, sizeof forged);
    CHECK(stays_empty(end.recv_cq));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"changed", changed},
                                            {"shortened", shortened},
                                            {"redirected", redirected},
                                            {"replayed", replayed},
                                            {"sources", sources},
                                            {"untagged", untagged},
                                            {0}});
}
