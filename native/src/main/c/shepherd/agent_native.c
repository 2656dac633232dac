/*
 * libudckpt-agent.so: C functions for the agent's JVM, by JNI (NativeCall). To link one by java.lang.foreign costs a
 * young JVM some 10 ms of processor time for each shape, which is spent before a restarted job's first instruction.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* jlong of jni.h is long here; the class and its environment are not looked at */
#define NATIVE(name) __attribute__((visibility("default"))) long Java_org_udckpt_linux_NativeCall_##name

/* The result of the system call, or -errno. */
NATIVE(system)(void *environment, void *class, long number, long a, long b, long c, long d, long e, long f) {
  (void)environment;
  (void)class;
  long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}

/* A function that takes up to six integers or addresses: it takes no notice of those that it does not have. */
NATIVE(function)(void *environment, void *class, long address, long a, long b, long c, long d, long e, long f) {
  (void)environment;
  (void)class;
  return ((long (*)(long, long, long, long, long, long))(intptr_t)address)(a, b, c, d, e, f);
}

/*
 * Starts a program of ours, with this process's standard streams and variables; the first word is its path. Its pid, or
 * -errno. It closes other descriptors itself, and gets no preload of the user's, which is for the ranks. The JDK does
 * the same and looks for a logger of it in each jar before.
 */
NATIVE(spawn)(void *environment, void *class, long words) {
  (void)environment;
  (void)class;
  static const char preload[] = "LD_PRELOAD=";
  char **arguments = (char **)(intptr_t)words;
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **variables = calloc(count + 1, sizeof *variables);
  if (!variables) return -ENOMEM;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], preload, sizeof preload - 1) != 0) variables[kept++] = environ[i];
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  pid_t pid = 0;
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    posix_spawnattr_setsigmask(&attributes, &none); /* a JVM's threads block some */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(&pid, arguments[0], NULL, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
  }
  free(variables);
  return error ? -error : pid;
}
