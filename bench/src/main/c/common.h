/* What the MPI programs of this folder share: errors and option values. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(const char *what)
{
    fprintf(stderr, "error: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static inline long number_option(const char *text, long least, const char *name)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < least || value > 1000000000) {
        fprintf(stderr, "error: %s takes a number from %ld to 1000000000, not '%s'\n", name, least, text);
        exit(64);
    }
    return value;
}
