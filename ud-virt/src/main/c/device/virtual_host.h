/* Hosts by GID. The translation table names hosts by LID; a RoCE port has none, so the agent gives its host a number
 * in the place of one, in each incarnation another. This is where GIDs become numbers and numbers GIDs. */
#pragma once
#include "virtual.h"

/* This host's number in an incarnation on RoCE: UDCKPT_HOST_NUMBER, later the agent's word. Its first port has it,
 * further ones those that follow. */
uint16_t virtual_host_number(void);
void virtual_set_host_number(uint16_t number);
/* The number of one of its ports; 0 for a port that has none, for the host's are few. */
uint16_t virtual_port_number(unsigned place, unsigned port);

/* The GID by which a RoCE port is reached: the first of version 2 that holds an IPv4 address, else the first of
 * version 2, else 0. All hosts of a job choose alike, so sender and receiver have the same family. */
int virtual_choose_gid(const union ibv_gid *gids, const uint32_t *types, int count);

/* Reads the port's GIDs, at most MAX_GIDS, with their types. Returns how many there are, or -1 with errno. */
int virtual_read_gids(struct ibv_context *real, uint8_t port, int table_length, union ibv_gid *gids, uint32_t *types);

/* The number of the host that has this virtual (reverse: real) GID; 0 when the agent does not know it. */
uint16_t virtual_host_of(int reverse, const union ibv_gid *gid);
/* After a restart other hosts have the real GIDs. */
void virtual_forget_hosts(void);

/* A destination of this incarnation: fills in what names the host, for the kind of link that the device has, and the
 * sender's port. */
void virtual_aim(struct ibv_ah_attr *attributes, const struct v_port *from, uint16_t real_lid, const void *real_gid);
