package org.udckpt.image;

/**
 * What became of one process's memory.
 *
 * @param bytes       read from the process
 * @param zeroBytes   of them not stored, because they were zero pages
 * @param storedBytes appended to stripe files
 * @param nanos       from the first read to the last write
 */
public record MemoryResult(int process, long bytes, long zeroBytes, long storedBytes, long nanos) { }
