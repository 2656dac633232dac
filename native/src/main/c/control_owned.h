#pragma once
#include <stddef.h>
#include <stdint.h>

/* Writes a whole QUIESCED message: the descriptors and mappings that are not part of an image. */
void control_owned(void *reply, size_t size, uint64_t cookie, uint32_t status);
