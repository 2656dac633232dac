package org.udckpt.process.model;

/**
 * A time namespace that the job has made (time_namespaces(7)).
 *
 * @param userOwner the user namespace that owns it; 0: the one in which the job was started
 * @param monotonicNs how much its CLOCK_MONOTONIC is ahead of that where the job was started
 * @param boottimeNs the same of CLOCK_BOOTTIME
 */
public record TimeNamespace(long id, long userOwner, long monotonicNs, long boottimeNs) implements KernelObject {}
