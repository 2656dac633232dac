package org.udckpt.process.model;

/**
 * Memory of a process that holds the same bytes at the same addresses as another process's, because a fork has shared
 * it.
 *
 * @param with the pid of that process, whose own memory is not taken from anybody there
 */
public record SharedRange(long start, long end, long with) {}
