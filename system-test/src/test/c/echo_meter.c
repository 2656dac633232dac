/* What a network does with datagrams there and back: "echo_meter ADDRESS COUNT PAUSE_US BYTES" sends so many echo
 * requests (ICMP), which the other host's kernel answers, and prints in one line: answers, different ones, those that
 * came after a later one's, and the fastest's and the median's time in us. Sending ends when all are sent, and the rest
 * when nothing has come for two seconds. Times of arrival are the kernel's, so that a busy processor falsifies nothing;
 * who is late in sending catches up. Needs CAP_NET_RAW. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 16 << 20,
    MOST_BYTES = 1400,
    MOST = 100000,
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    SILENCE_MS = 2000,
    IP_HEADER = 20
};

struct request {
    struct icmphdr header;
    int32_t number;
    int64_t sent;
    char rest[MOST_BYTES];
} __attribute__((packed));

static int64_t times[MOST];
static char seen[MOST];
static int answers, different, overtaken, latest = -1;

static void fail(const char *what)
{
    fprintf(stderr, "echo_meter: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * (int64_t)NS_PER_S + time.tv_nsec;
}

static uint16_t checksum(const void *data, size_t bytes)
{
    const uint16_t *words = data;
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes / 2; i++)
        sum += words[i];
    sum = (sum >> 16) + (sum & 0xffff);
    return ~(sum + (sum >> 16));
}

static void ask(int fd, const struct sockaddr_in *whom, int number, size_t bytes)
{
    static struct request request;
    request = (struct request){
        .header = {.type = ICMP_ECHO, .un.echo.id = htons(getpid() & 0xffff)}, .number = number, .sent = now()};
    request.header.checksum = checksum(&request, bytes);
    if (sendto(fd, &request, bytes, 0, (const struct sockaddr *)whom, sizeof *whom) < 0 && errno != EHOSTUNREACH &&
        errno != ENOBUFS)
        fail("sending");
}

/* False: nothing is there. */
static int receive(int fd)
{
    char packet[IP_HEADER + sizeof(struct request)], control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec buffer = {packet, sizeof packet};
    struct msghdr message = {
        .msg_iov = &buffer, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT);
    if (bytes < 0)
        return errno == EAGAIN || errno == EHOSTUNREACH ? 0 : (fail("receiving"), 0);
    const struct request *answer = (const struct request *)(packet + IP_HEADER);
    struct cmsghdr *arrival = CMSG_FIRSTHDR(&message);
    if (answer->header.type != ICMP_ECHOREPLY || answer->header.un.echo.id != htons(getpid() & 0xffff) || !arrival ||
        answers == MOST)
        return 1;
    struct timespec came;
    memcpy(&came, CMSG_DATA(arrival), sizeof came);
    times[answers++] = (came.tv_sec * (int64_t)NS_PER_S + came.tv_nsec - answer->sent) / NS_PER_US;
    different += !seen[answer->number];
    seen[answer->number] = 1;
    overtaken += answer->number < latest;
    latest = answer->number > latest ? answer->number : latest;
    return 1;
}

static int compare(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    struct sockaddr_in whom = {.sin_family = AF_INET};
    int count = argc == 5 ? atoi(argv[2]) : 0, one = 1, room = BUFFER_BYTES, sent = 0;
    size_t bytes = argc == 5 ? strtoul(argv[4], NULL, 10) & ~1ul : 0;
    if (count < 1 || count > MOST || bytes < sizeof(struct request) - MOST_BYTES || bytes > MOST_BYTES ||
        !inet_aton(argv[1], &whom.sin_addr)) {
        fprintf(stderr, "usage: echo_meter ADDRESS COUNT PAUSE_US BYTES\n");
        return 64;
    }
    int64_t pause = atoll(argv[3]) * NS_PER_US;
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one))
        fail("a socket for ICMP");
    for (int64_t next = now(); sent < count; next += pause) {
        for (int64_t left; (left = next - now()) > 0;)
            usleep(left / NS_PER_US);
        ask(fd, &whom, sent++, bytes);
        while (receive(fd))
            ;
    }
    struct pollfd socket = {.fd = fd, .events = POLLIN};
    while (poll(&socket, 1, SILENCE_MS) > 0)
        while (receive(fd))
            ;
    qsort(times, answers, sizeof *times, compare);
    printf("%d %d %d %lld %lld\n", answers, different, overtaken, answers ? (long long)times[0] : 0,
           answers ? (long long)times[answers / 2] : 0);
    return 0;
}
