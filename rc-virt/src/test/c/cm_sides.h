/* Two programs of one job, of which rank 0 is asked and rank 1 asks, both on this host. */
#pragma once
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void (*cm_side)(struct rdma_event_channel *channel, struct sockaddr_in *address);

static struct rdma_conn_param parameters = {.qp_num = 0x123, .responder_resources = 1, .initiator_depth = 1};

static void fail(const char *what)
{
    printf("FAIL %s\n", what);
    exit(1);
}

static void be_asked(struct rdma_event_channel *channel, struct sockaddr_in *address, int backlog)
{
    struct rdma_cm_id *listener;
    if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) || rdma_bind_addr(listener, (struct sockaddr *)address) ||
        rdma_listen(listener, backlog))
        fail("rdma_listen");
}

static int be_one_side(const char *port, cm_side serve, cm_side ask)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    const char *rank = getenv("PMI_RANK");
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (!channel || !rank)
        fail("rdma_create_event_channel");
    if (*rank == '0')
        serve(channel, &address);
    else {
        sleep(2); /* until it listens */
        ask(channel, &address);
    }
    return 0;
}
