package org.udckpt.process.model;

/**
 * A process in a time namespace that the job has made.
 *
 * @param forChildren only its children will be
 */
public record TimeNamespaceMember(long id, int pid, long timeNamespace, boolean forChildren) implements KernelObject {}
