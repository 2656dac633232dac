/* A QP's sockets. The kernel drops for us what a device would drop (soft_filter.h), and everything unless the QP
 * receives. */
#pragma once
#include "soft_types.h"

/* Binds the QP to a free number of the context's range; returns 0 or an errno value. */
int soft_socket_open(struct soft_qp *qp);
void soft_socket_close(struct soft_qp *qp);
int soft_socket_accept(struct soft_qp *qp); /* only what carries the QP's present Q_Key */
int soft_socket_accept_peer(struct soft_qp *qp, uint32_t qpn, uint16_t lid); /* only what this peer sends */
int soft_socket_refuse(struct soft_qp *qp);                                  /* nothing */
/* Lets one of its sockets accept only datagrams with this number in place of the QPN, and with the QP's Q_Key. */
int soft_socket_accept_number(struct soft_qp *qp, int fd, uint32_t number);
/* A socket at this LID and number, or its second one, which wakes sleepers; -1 with errno. */
int soft_socket_bound(uint32_t network, uint16_t lid, uint32_t qpn);
int soft_socket_doorbell(const struct soft_config *config, uint16_t lid, uint32_t qpn);
/* Multicast datagrams leave by the port with this LID. */
void soft_socket_send_groups_from(int fd, const struct soft_config *config, uint16_t lid);
void soft_socket_enlarge(int fd); /* its buffers, as far as allowed */
