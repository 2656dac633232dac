package org.udckpt.image.write;

/**
 * What became of one process's memory.
 *
 * @param bytes       all of it
 * @param unreadBytes of them not read: an older checkpoint has them, and nobody has written to them since
 * @param zeroBytes   of them not stored, because they were zero pages
 * @param sameBytes   of them not stored, because an older checkpoint has the same; without those that were not read
 * @param storedBytes appended to stripe files, packed
 * @param nanos       from the first read to the last write
 */
public record MemoryResult(int process, long bytes, long unreadBytes, long zeroBytes, long sameBytes, long storedBytes,
        long nanos) {
    /** With memory that was not read. */
    MemoryResult withUnread(long more) {
        return new MemoryResult(process, bytes + more, unreadBytes + more, zeroBytes, sameBytes, storedBytes, nanos);
    }
}
