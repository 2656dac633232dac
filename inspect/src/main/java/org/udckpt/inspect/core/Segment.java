package org.udckpt.inspect.core;

import java.util.ArrayList;
import java.util.List;

/**
 * One PT_LOAD of a core file.
 *
 * @param flags PF_X 1, PF_W 2, PF_R 4
 * @param content the pieces whose bytes the core file has, ascending; what lies between them is zero. Empty: the core
 *     file has no byte of the segment, and debuggers take them from the mapped file, or for zero
 */
record Segment(long start, long end, int flags, List<Piece> content) {
    /**
     * A gap of zeros as large as this becomes a segment of its own, so that a core file's length stays near what it
     * holds.
     */
    private static final long GAP = 1 << 20;

    long size() {
        return end - start;
    }

    long fileSize() {
        return content.isEmpty() ? 0 : size();
    }

    /** The segments of a region. */
    static List<Segment> of(List<Piece> pieces, String permissions) {
        int flags = (permissions.charAt(0) == 'r' ? 4 : 0) | (permissions.charAt(1) == 'w' ? 2 : 0)
                | (permissions.charAt(2) == 'x' ? 1 : 0);
        List<Segment> segments = new ArrayList<>();
        List<Piece> open = new ArrayList<>();
        for (Piece piece : pieces) {
            boolean alone = piece.onDisk() || !piece.stored() && piece.size() >= GAP;
            if (alone && !open.isEmpty()) {
                segments.add(of(open, flags));
                open.clear();
            }
            open.add(piece);
            if (alone) {
                segments.add(of(open, flags));
                open.clear();
            }
        }
        if (!open.isEmpty()) {
            segments.add(of(open, flags));
        }
        return segments;
    }

    private static Segment of(List<Piece> pieces, int flags) {
        return new Segment(pieces.getFirst().start(), pieces.getLast().end(), flags,
                pieces.stream().filter(Piece::stored).toList());
    }
}
