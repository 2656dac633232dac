/* What a QUIESCED message lists: descriptors and mappings that an image leaves out. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Writes a whole QUIESCED message: the descriptors and mappings that are not part of an image. */
void session_owned(void *reply, size_t size, uint64_t cookie, uint32_t status);
