/* What the parts of cm_parameters have in common. */
#pragma once
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s is not so (%s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
            exit(1); \
        } \
    } while (0)
#define REFUSED(error, call) \
    do { \
        errno = 0; \
        CHECK((call) == -1 && errno == error); \
    } while (0)

enum { REQ_ROOM = 56, REP_ROOM = 196, REJ_ROOM = 148, SIDR_REQ_ROOM = 180, SIDR_REP_ROOM = 136, MOST = 7 };
enum { READS = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

extern struct sockaddr_in here, nobody;

void lookups(void); /* cm_parameters_lookups.c */
