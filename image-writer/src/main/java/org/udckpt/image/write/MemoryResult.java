package org.udckpt.image.write;

/**
 * What became of one process's memory.
 *
 * @param bytes       read from the process
 * @param zeroBytes   of them not stored, because they were zero pages
 * @param sameBytes   of them not stored, because an older checkpoint has them
 * @param storedBytes appended to stripe files, packed
 * @param nanos       from the first read to the last write
 */
public record MemoryResult(int process, long bytes, long zeroBytes, long sameBytes, long storedBytes, long nanos) {}
