/* What all parts of DiSNI's native half share: exceptions, object ids, waiting. */
#define _GNU_SOURCE /* strerror_r that returns the text */
#include "disni.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void throw_message(JNIEnv *env, const char *message)
{
    jclass type = (*env)->FindClass(env, "java/io/IOException");
    if (type) /* else the class loader has thrown already */
        (*env)->ThrowNew(env, type, message);
}

void disni_throw(JNIEnv *env, const char *what, int error)
{
    char reason[128], message[256];
    snprintf(message, sizeof message, "%s: %s", what, strerror_r(error, reason, sizeof reason));
    throw_message(env, message);
}

int disni_is(JNIEnv *env, jlong id, const char *what, const char *noun)
{
    char message[256];
    if (id != 0 && id != -1)
        return 1;
    snprintf(message, sizeof message, "%s: the %s is null", what, noun);
    throw_message(env, message);
    return 0;
}

jlong disni_new(JNIEnv *env, void *object, const char *what)
{
    if (!object)
        disni_throw(env, what, errno);
    return (jlong)(intptr_t)object;
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

int disni_await(int fd, int timeout_ms)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    long deadline = now_ms() + timeout_ms;
    for (;;) {
        long left = timeout_ms < 0 ? -1 : deadline - now_ms();
        int ready = poll(&wanted, 1, timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0);
        if (ready >= 0 || errno != EINTR)
            return ready;
    }
}
