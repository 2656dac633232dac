package org.udckpt.process.model;

/**
 * Pages within one mapping that may be mapped as they are but kill who touches them (madvise(2), MADV_GUARD_INSTALL;
 * Linux 6.13): no permissions of a mapping say so. C libraries end threads' stacks with them.
 *
 * @param pid of the process, in its own namespace
 * @param start address, a multiple of 4096
 * @param end behind the last byte
 */
public record GuardPages(int pid, long start, long end) {}
