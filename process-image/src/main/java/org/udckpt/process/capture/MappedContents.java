package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;

/**
 * The content of a file that this user may not open by its mapping (/proc/PID/map_files needs CAP_CHECKPOINT_RESTORE),
 * read from the mappings of the stopped processes. A page of a private mapping that was written to belongs to that
 * process; it stands for the file's page only if no process maps the latter.
 */
final class MappedContents {
    private static final int PAGE = 4096;

    /** @param offset in the file, of {@code address}. @param own 0: the file's pages; 1: a process's own */
    private record Piece(TracedProcess process, long address, long offset, long bytes, int own) {
        Piece part(long from, long to) {
            return new Piece(process, address + from - offset, from, to - from, own);
        }

        long end() {
            return offset + bytes;
        }
    }

    private final List<Piece> pieces = new ArrayList<>();
    /** Offsets that are taken: start to end. */
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    private MappedContents() {}

    /** All that is mapped of the file of {@code wanted}. */
    static MappedContents of(List<TracedProcess> processes, Mapping wanted) {
        List<Piece> found = new ArrayList<>();
        for (TracedProcess process : processes) {
            for (Mapping one : process.ownMappings()) {
                if (one.inode() == wanted.inode() && one.device().equals(wanted.device())) {
                    found.addAll(one.shared()
                            ? List.of(new Piece(process, one.start(), one.offset(), one.end() - one.start(), 0))
                            : pages(process, one));
                }
            }
        }
        found.sort(Comparator.comparingInt(Piece::own).thenComparingLong(Piece::offset));
        MappedContents contents = new MappedContents();
        found.forEach(contents::take);
        return contents;
    }

    /** Whether each of this many bytes is mapped by one of them. */
    boolean covers(long bytes) {
        long end = 0;
        for (Map.Entry<Long, Long> range : taken.entrySet()) {
            if (range.getKey() > end) {
                return false;
            }
            end = range.getValue();
        }
        return end >= bytes;
    }

    /** Runs of pages of a private mapping: the file's pages, and the process's own. */
    private static List<Piece> pages(TracedProcess process, Mapping mapping) {
        List<Piece> runs = new ArrayList<>();
        int most = Scratch.DATA_BYTES / Long.BYTES;
        boolean[] own = new boolean[most];
        try (PageFrames frames = new PageFrames(new Pagemap(process, process.task()))) {
            for (long at = mapping.start(); at < mapping.end(); at += (long) most * PAGE) {
                int count = (int) Math.min(most, (mapping.end() - at) / PAGE);
                frames.readOwn(at, count, own, Scratch.data());
                for (int from = 0, to; from < count; from = to) {
                    for (to = from + 1; to < count && own[to] == own[from]; to++) {}
                    long start = at + (long) from * PAGE;
                    runs.add(new Piece(process, start, mapping.offset() + start - mapping.start(),
                            (long) (to - from) * PAGE, own[from] ? 1 : 0));
                }
            }
        }
        return runs;
    }

    /** What of it nobody has given before. */
    private void take(Piece piece) {
        for (long at = piece.offset; at < piece.end();) {
            Map.Entry<Long, Long> before = taken.floorEntry(at);
            if (before != null && before.getValue() > at) {
                at = before.getValue();
                continue;
            }
            Long next = taken.higherKey(at);
            long end = next == null ? piece.end() : Math.min(next, piece.end());
            pieces.add(piece.part(at, end));
            taken.put(at, end);
            at = end;
        }
    }

    /** @return its size, as far as can be seen: in whole pages */
    long copyTo(ContentCopy copy) {
        pieces.sort(Comparator.comparingLong(Piece::offset));
        long size = 0;
        for (Piece piece : pieces) {
            long there = there(piece);
            if (there > 0) {
                copy.memory(piece.process.memory, piece.address, piece.offset, there);
                size = piece.offset + there;
            }
        }
        return size;
    }

    /**
     * How many of its bytes are within the file: pages behind its end are mapped, and nobody can touch them (mmap(2)).
     */
    private static long there(Piece piece) {
        long good = 0;
        long bad = piece.bytes / PAGE + 1;
        for (long next = bad - 1; good + 1 < bad; next = (good + bad) >>> 1) {
            if (readable(piece, next - 1)) {
                good = next;
            } else {
                bad = next;
            }
        }
        return good * PAGE;
    }

    private static boolean readable(Piece piece, long page) {
        long n = piece.process.memory.readSome(piece.address + page * PAGE, Scratch.data().asSlice(0, PAGE));
        if (n < 0 && n != -LinuxError.EIO && n != -LinuxError.EFAULT) {
            throw new LinuxError("read of a mapped file of " + piece.process, (int) -n);
        }
        return n == PAGE;
    }
}
