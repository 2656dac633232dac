package org.udckpt.process.model;

/**
 * A pid namespace that the job has made (pid_namespaces(7)), below the one in which it was started.
 *
 * @param userOwner the user namespace that owns it; 0: that in which the job was started
 * @param init its process 1, as the job numbers it
 */
public record PidNamespace(long id, long userOwner, int init) implements KernelObject {}
