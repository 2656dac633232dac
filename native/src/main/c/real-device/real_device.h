/* The parts of the real device that are more than a call to libibverbs. */
#pragma once
#include "udckpt_layout.h"
#include "device/verbs_device.h"

/* real_list.c */
struct ibv_device **real_get_device_list(int *count);
void real_free_device_list(struct ibv_device **list);

/* real_owned.c */
struct ibv_comp_channel *real_create_comp_channel(struct ibv_context *);
int real_destroy_comp_channel(struct ibv_comp_channel *);
int real_owned_fds(struct ibv_context *, int *fds, int max);
int real_owned_ranges(struct udckpt_owned_range *ranges, int max);
void real_forget(struct ibv_context *);

/* real_regions.c */
void real_region_add(const struct ibv_mr *, const void *start, size_t length, unsigned access);
/* Returns what was listed of it: nothing, with an end of 0, where it may not be written to. */
struct udckpt_device_region real_region_remove(const struct ibv_mr *);
void real_region_restore(const struct ibv_mr *, struct udckpt_device_region);
/* All of this process: its devices are gone. */
void real_regions_forget(void);
