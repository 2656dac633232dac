package org.udckpt.process.model;

/**
 * A process in a time namespace that the job has made.
 *
 * @param forChildren only its children will be
 */
public record ClockMember(long id, int pid, long clockSpace, boolean forChildren) implements KernelObject {}
