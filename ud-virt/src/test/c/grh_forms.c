/* The 40 bytes before a UD message, from each form to each, in one piece and scattered: virtual_grh.c by itself.
 * Prints what is wrong; the exit code is the number of such lines. */
#include "address/virtual_grh.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { PAYLOAD = 100 };

static int wrong;
static uint8_t memory[GRH_BYTES + PAYLOAD];

static void check(int right, const char *what, const char *which)
{
    if (!right) {
        printf("%s: %s\n", which, what);
        wrong++;
    }
}

static union ibv_gid gid(const char *text)
{
    union ibv_gid made;
    if (inet_pton(AF_INET6, text, made.raw) != 1)
        check(0, "not an address", text);
    return made;
}

static uint16_t sum(const uint8_t *header)
{
    uint32_t total = 0;
    for (int i = 0; i < 20; i += 2)
        total += (uint32_t)(header[i] << 8 | header[i + 1]);
    total = (total & 0xffff) + (total >> 16);
    return (uint16_t)((total & 0xffff) + (total >> 16));
}

static const struct ibv_sge whole[] = {{(uintptr_t)memory, sizeof memory, 0}};
static const struct ibv_sge pieces[] = {{(uintptr_t)memory, 7, 0},
                                        {(uintptr_t)memory + 7, 0, 0},
                                        {(uintptr_t)memory + 7, 20, 0},
                                        {(uintptr_t)memory + 27, sizeof memory - 27, 0}};

static void fill(const struct ibv_sge *sges, uint32_t count, const char *from, const char *to)
{
    union ibv_gid source = gid(from), destination = gid(to);
    memset(memory, 0, GRH_BYTES);
    memset(memory + GRH_BYTES, 0xaa, PAYLOAD);
    virtual_write_grh(sges, count, &source, &destination, PAYLOAD);
}

static void rewrite(const struct ibv_sge *sges, uint32_t count, const char *from, const char *to, const char *which)
{
    union ibv_gid source = gid(from), destination = gid(to);
    virtual_write_grh(sges, count, &source, &destination, PAYLOAD);
    union ibv_gid read = virtual_grh_source(sges, count);
    check(!memcmp(&read, &source, sizeof read), "the source is not read back", which);
    for (int i = 0; i < PAYLOAD; i++)
        if (memory[GRH_BYTES + i] != 0xaa) {
            check(0, "the payload was touched", which);
            break;
        }
}

static void check_ipv4(const char *which)
{
    static const uint8_t to[] = {10, 3, 0, 2};
    check(memory[20] == 0x45 && memory[29] == 17, "no IPv4 header for UDP", which);
    check(sum(memory + 20) == 0xffff, "its checksum", which);
    check((memory[22] << 8 | memory[23]) == 20 + 8 + 20 + PAYLOAD + 4,
          "its length: IP, UDP, BTH and DETH, payload, CRC", which);
    check(!memcmp(memory + 36, to, sizeof to), "its destination", which);
}

static void from_each_to_each(const struct ibv_sge *sges, uint32_t count, const char *which)
{
    static const char *v4[] = {"::ffff:10.1.0.1", "::ffff:10.1.0.2"}, *v6[] = {"fe80::1", "fe80::2"};
    const char *const *forms[] = {v4, v6};
    for (int old = 0; old < 2; old++) {
        fill(sges, count, forms[old][0], forms[old][1]);
        rewrite(sges, count, "::ffff:10.3.0.1", "::ffff:10.3.0.2", which);
        check_ipv4(which);
        fill(sges, count, forms[old][0], forms[old][1]);
        rewrite(sges, count, "fe80::45:4500:0:7", "fe80::8", which);
        union ibv_gid to = gid("fe80::8");
        check(!memcmp(memory + 24, &to, sizeof to), "the destination of a GRH", which);
        check(memory[0] >> 4 == 6 || old == 1, "the version of a new GRH", which);
    }
}

/* rdma_rxe leaves the checksum out when a device talks to itself; and a GRH's own bytes may look like an IPv4 header's
 * first. */
static void look_alikes(void)
{
    union ibv_gid expected = gid("::ffff:10.1.0.1");
    fill(whole, 1, "::ffff:10.1.0.1", "::ffff:10.1.0.2");
    memory[30] = memory[31] = 0;
    union ibv_gid read = virtual_grh_source(whole, 1);
    check(!memcmp(&read, &expected, sizeof read), "IPv4 without a checksum", "look-alikes");
    expected = gid("fe80::4500:0:0:1"); /* bytes 18 to 23 of the 40 */
    expected.raw[12] = 0x45;
    fill(whole, 1, "::ffff:10.1.0.1", "::ffff:10.1.0.2");
    memset(memory, 0, GRH_BYTES);
    memory[0] = 0x60;
    memcpy(memory + 8, &expected, sizeof expected);
    read = virtual_grh_source(whole, 1);
    check(!memcmp(&read, &expected, sizeof read), "a GRH whose byte 20 is 0x45", "look-alikes");
}

int main(void)
{
    from_each_to_each(whole, 1, "in one piece");
    from_each_to_each(pieces, 4, "scattered");
    look_alikes();
    return wrong;
}
