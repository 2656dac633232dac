#pragma once
#include "soft_types.h"

struct ibv_ah *soft_create_ah(struct ibv_pd *, struct ibv_ah_attr *);
int soft_destroy_ah(struct ibv_ah *);
