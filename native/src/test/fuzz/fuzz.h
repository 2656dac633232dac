/* What the fuzz targets share: an input that is taken piece by piece. A target reads no byte behind its end: what is
 * asked for beyond it is 0. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

static inline size_t take(struct input *input, void *into, size_t size)
{
    size_t here = size < input->left ? size : input->left;
    memset(into, 0, size);
    memcpy(into, input->at, here);
    input->at += here;
    input->left -= here;
    return here;
}

static inline uint8_t take_u8(struct input *input)
{
    uint8_t value;
    take(input, &value, sizeof value);
    return value;
}

static inline uint16_t take_u16(struct input *input)
{
    uint16_t value;
    take(input, &value, sizeof value);
    return value;
}

/* A target's own preparation must work. */
#define NEED(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)
