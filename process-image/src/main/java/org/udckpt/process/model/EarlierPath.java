package org.udckpt.process.model;

/**
 * A path of a file that a process has had mapped, or has executed, since before it was in its mount namespace: it leads
 * there in the namespace in which the job was started.
 *
 * @param pid of the process, as the job numbers it
 */
public record EarlierPath(long id, int pid, String path) implements KernelObject {}
