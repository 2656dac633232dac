/*
 * libudckpt-agent.so: C functions for the agent's JVM, by JNI (NativeCall). To link one by java.lang.foreign costs a
 * young JVM some 10 ms of processor time for each shape, which is spent before a restarted job's first instruction.
 */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* jlong of jni.h is long here; the class and its environment are not looked at */
#define NATIVE(name) __attribute__((visibility("default"))) long Java_org_udckpt_linux_NativeCall_##name

/* The result of the system call, or -errno. */
NATIVE(system)(void *environment, void *class, long number, long a, long b, long c, long d, long e, long f)
{
    (void)environment;
    (void)class;
    long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -errno : result;
}

/* A function that takes up to six integers or addresses: it takes no notice of those that it does not have. */
NATIVE(function)(void *environment, void *class, long address, long a, long b, long c, long d, long e, long f)
{
    (void)environment;
    (void)class;
    return ((long (*)(long, long, long, long, long, long))(intptr_t)address)(a, b, c, d, e, f);
}
