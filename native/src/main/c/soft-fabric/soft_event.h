/* Asynchronous events (ibv_get_async_event(3)). async_fd is an eventfd that counts them. */
#pragma once
#include "soft_types.h"

int soft_get_async_event(struct ibv_context *, struct ibv_async_event *);
void soft_ack_async_event(struct ibv_async_event *);
void soft_event_post(struct soft_context *context, struct ibv_async_event event);
/* Takes back what was not yet handed out about an object (a QP, CQ or SRQ). */
void soft_event_withdraw(struct soft_context *context, const void *element);
