#include "cm_parameters.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

/* rdma_getaddrinfo(3): what each combination of node, service and hints gives. */
static struct rdma_addrinfo *addresses(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
    struct rdma_addrinfo *info = NULL;
    CHECK(!rdma_getaddrinfo(node, service, hints, &info) && info && !info->ai_next);
    return info;
}

static void is_kind(const struct rdma_addrinfo *info, int flags, int family, int space, int type)
{
    CHECK(info->ai_flags == flags && info->ai_family == family && info->ai_port_space == space &&
          info->ai_qp_type == type);
}

void lookups(void)
{
    struct rdma_addrinfo *info, hints = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP};
    REFUSED(EINVAL, rdma_getaddrinfo(NULL, NULL, NULL, &info));
    is_kind(info = addresses(NULL, NULL, &hints), RAI_PASSIVE, 0, RDMA_PS_TCP, 0);
    CHECK(!info->ai_src_addr && !info->ai_dst_addr && !info->ai_src_len && !info->ai_dst_len);
    rdma_freeaddrinfo(info);
    hints = (struct rdma_addrinfo){.ai_flags = RAI_NUMERICHOST | RAI_NOROUTE,
                                   .ai_family = AF_INET,
                                   .ai_qp_type = IBV_QPT_UD,
                                   .ai_port_space = RDMA_PS_UDP,
                                   .ai_src_addr = (struct sockaddr *)&nobody,
                                   .ai_src_len = sizeof nobody,
                                   .ai_dst_addr = (struct sockaddr *)&here,
                                   .ai_dst_len = sizeof here};
    is_kind(info = addresses(NULL, NULL, &hints), hints.ai_flags, AF_INET, RDMA_PS_UDP, IBV_QPT_UD);
    CHECK(info->ai_src_len == sizeof nobody && !memcmp(info->ai_src_addr, &nobody, sizeof nobody) &&
          info->ai_src_addr != hints.ai_src_addr);
    CHECK(info->ai_dst_len == sizeof here && !memcmp(info->ai_dst_addr, &here, sizeof here) &&
          info->ai_dst_addr != hints.ai_dst_addr);
    rdma_freeaddrinfo(info);
    is_kind(info = addresses("127.0.0.1", NULL, &hints), 0, AF_INET, RDMA_PS_UDP, IBV_QPT_UD);
    CHECK(info->ai_src_len == sizeof nobody && info->ai_dst_len == sizeof here &&
          !((struct sockaddr_in *)info->ai_dst_addr)->sin_port);
    rdma_freeaddrinfo(info);
    is_kind(info = addresses("127.0.0.1", "7471", NULL), 0, AF_INET, RDMA_PS_TCP, IBV_QPT_RC);
    CHECK(((struct sockaddr_in *)info->ai_dst_addr)->sin_port == htons(7471) && !info->ai_src_addr);
    rdma_freeaddrinfo(info);
    hints = (struct rdma_addrinfo){.ai_port_space = RDMA_PS_UDP};
    is_kind(info = addresses("::1", "7471", &hints), 0, AF_INET6, RDMA_PS_UDP, IBV_QPT_UD);
    rdma_freeaddrinfo(info);
    hints = (struct rdma_addrinfo){
        .ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_IB};
    is_kind(info = addresses(NULL, "7471", &hints), RAI_PASSIVE, AF_INET, RDMA_PS_IB, IBV_QPT_RC);
    CHECK(!((struct sockaddr_in *)info->ai_src_addr)->sin_addr.s_addr && !info->ai_dst_addr);
    rdma_freeaddrinfo(info);
    hints = (struct rdma_addrinfo){.ai_flags = RAI_NUMERICHOST};
    CHECK(rdma_getaddrinfo("localhost", NULL, &hints, &info) == EAI_NONAME);
    hints = (struct rdma_addrinfo){.ai_flags = RAI_FAMILY | RAI_NUMERICHOST, .ai_family = AF_IB};
    REFUSED(EOPNOTSUPP, rdma_getaddrinfo("::1", NULL, &hints, &info));
}
