/* A context's list of objects: what is open, which descriptors it holds, how to end it. */
#pragma once
#include "soft_types.h"

void soft_add(struct soft_context *context, struct soft_object *object, enum soft_kind kind);
void soft_remove(struct soft_context *context, struct soft_object *object);
int soft_owned_fds(struct ibv_context *context, int *fds, int max);
void soft_forget(struct ibv_context *context);
int soft_close_device(struct ibv_context *context);
