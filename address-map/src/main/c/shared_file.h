/* A file of the runtime directory, mapped; a restart maps the next incarnation's file in its place. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>

struct shared_file {
    void *start;
    size_t size;
};

int shared_file_map(struct shared_file *file, const char *directory, const char *name, int writable, char *error,
                    size_t size);
int shared_file_range(const struct shared_file *file, struct udckpt_owned_range *range);
