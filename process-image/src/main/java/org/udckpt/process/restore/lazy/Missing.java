package org.udckpt.process.restore.lazy;

import java.util.Map;
import java.util.TreeMap;
import org.udckpt.linux.TransferBuffer;

/**
 * Which pages of an address space have contents in the image that are not in memory yet. What is missing there and not
 * in here reads as zeros. Addresses and offsets are page-aligned; ends are exclusive. Any thread.
 */
final class Missing {
    /** The most that is read at once; the image's own pieces are of this size, and are checked as a whole. */
    static final long PIECE = TransferBuffer.BYTES;

    /**
     * Memory from {@code start} to {@code end}, whose contents are at {@code address + bias} of the source.
     *
     * @param origin a source offset where a piece of the image begins
     */
    record Part(long start, long end, long bias, long origin) {
        long offset() {
            return start + bias;
        }

        long bytes() {
            return end - start;
        }

        private Part cut(long from, long to) {
            return new Part(Math.max(from, start), Math.min(to, end), bias, origin);
        }

        /** What of it lies in the same piece of the image as {@code address}. */
        private Part piece(long address) {
            long first = address - Math.floorMod(address + bias - origin, PIECE);
            return cut(first, first + PIECE);
        }
    }

    private final TreeMap<Long, Part> parts = new TreeMap<>();
    private long bytes;

    synchronized void add(Part part) {
        if (part.start < part.end) {
            parts.put(part.start, part);
            bytes += part.bytes();
        }
    }

    /** The same, for a child that has just been forked. */
    synchronized Missing copy() {
        Missing copy = new Missing();
        parts.values().forEach(copy::add);
        return copy;
    }

    synchronized long bytes() {
        return bytes;
    }

    /** Null: nothing is missing there but zeros. */
    synchronized Part at(long address) {
        Map.Entry<Long, Part> floor = parts.floorEntry(address);
        return floor == null || floor.getValue().end <= address ? null : floor.getValue().piece(address);
    }

    /** The first piece at or behind {@code address}, or null. */
    synchronized Part next(long address) {
        Part here = at(address);
        if (here != null) {
            return here.cut(address, here.end);
        }
        Map.Entry<Long, Part> next = parts.ceilingEntry(address);
        return next == null ? null : next.getValue().piece(next.getKey());
    }

    /** Where the piece ends in which {@code address} lies, but does not begin; else the address itself. */
    synchronized long pieceEnd(long address) {
        Part here = at(address);
        return here == null || here.start == address ? address : here.end;
    }

    /** Where the next part begins, behind {@code address}. */
    synchronized long nextStart(long address) {
        Long next = parts.higherKey(address);
        return next == null ? Long.MAX_VALUE : next;
    }

    /** Whether {@code wanted}'s first page is missing still, with the same contents: how far it is, or 0. */
    synchronized long still(Part wanted) {
        Map.Entry<Long, Part> floor = parts.floorEntry(wanted.start);
        Part now = floor == null ? null : floor.getValue();
        return now == null || now.end <= wanted.start || now.bias != wanted.bias ? 0
                : Math.min(now.end, wanted.end) - wanted.start;
    }

    /** Removes a range that was filled, discarded or unmapped. */
    synchronized void remove(long start, long end) {
        Map.Entry<Long, Part> floor = parts.floorEntry(start);
        long from = floor != null && floor.getValue().end > start ? floor.getKey() : start;
        for (Map.Entry<Long, Part> entry; (entry = parts.ceilingEntry(from)) != null && entry.getKey() < end;) {
            Part part = entry.getValue();
            parts.remove(entry.getKey());
            bytes -= part.bytes();
            add(part.cut(part.start, start));
            add(part.cut(end, part.end));
            from = part.end;
        }
    }

    /** mremap(2): what was at {@code from} is at {@code to} now, and what was there is gone. */
    synchronized void move(long from, long to, long length) {
        Missing moved = new Missing();
        for (Part part : parts.subMap(parts.floorKey(from) == null ? from : parts.floorKey(from), from + length)
                .values()) {
            Part cut = part.cut(from, from + length);
            moved.add(new Part(cut.start - from + to, cut.end - from + to, cut.bias + from - to, cut.origin));
        }
        remove(from, from + length);
        remove(to, to + length);
        moved.parts.values().forEach(this::add);
    }
}
