package org.udckpt.image;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/** Holds a table of chunks against the rules of the format, before any of its numbers is used. */
final class ChunkCheck {
    private final Path file;
    private final Manifest.Integrity integrity;
    private final List<Long> stripeLengths;

    ChunkCheck(Path file, Manifest.Integrity integrity, List<Long> stripeLengths) {
        this.file = file;
        this.integrity = integrity;
        this.stripeLengths = stripeLengths;
    }

    /** Returns the stored chunks by stripe and offset; they cover every stripe file exactly once. */
    List<Chunk> check(List<Chunk> chunks) throws ImageError {
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            checkAlone(chunk, i);
            if (i > 0 && follows(chunks.get(i - 1), chunk)) {
                throw wrong(i, "overlaps the one before, or is out of order");
            }
        }
        List<Chunk> stored = chunks.stream().filter(chunk -> chunk.kind() == Chunk.Kind.DATA)
                .sorted(Comparator.comparingInt(Chunk::stripe).thenComparingLong(Chunk::offset)).toList();
        checkCover(stored);
        return stored;
    }

    private static boolean follows(Chunk last, Chunk chunk) {
        return last.process() > chunk.process() || last.process() == chunk.process() && last.end() > chunk.address();
    }

    private void checkAlone(Chunk c, int row) throws ImageError {
        if (c.kind() == null || c.address() < 0 || c.length() <= 0 || c.end() < 0 || c.address() % Range.PAGE != 0
                || c.length() % Range.PAGE != 0) {
            throw wrong(row, "not a range of pages: " + c);
        }
        boolean right = switch (c.kind()) {
            case ZERO -> c.stripe() == -1 && c.offset() == 0 && c.checksum() == 0 && c.digest() == null;
            case DATA -> c.length() <= Chunk.MAX_LENGTH && c.stripe() >= 0 && c.stripe() < stripeLengths.size() && c.offset() >= 0
                    && digestFits(c);
        };
        if (!right) {
            throw wrong(row, "not a chunk: " + c);
        }
    }

    private boolean digestFits(Chunk chunk) {
        return switch (integrity) {
            case XXH3 -> chunk.digest() == null;
            case SHA256 -> chunk.digest() != null && chunk.digest().length == Checksum.DIGEST_BYTES;
        };
    }

    private void checkCover(List<Chunk> stored) throws ImageError {
        int next = 0;
        for (int stripe = 0; stripe < stripeLengths.size(); stripe++) {
            long at = 0;
            for (; next < stored.size() && stored.get(next).stripe() == stripe; next++) {
                if (stored.get(next).offset() != at) {
                    throw wrong(next, "begins at " + stored.get(next).offset() + " of stripe " + stripe + ", not at " + at);
                }
                at += stored.get(next).length();
            }
            if (at != stripeLengths.get(stripe)) {
                throw wrong(next, "the chunks of stripe " + stripe + " end at " + at + ", the file at " + stripeLengths.get(stripe));
            }
        }
    }

    private ImageError.Corrupt wrong(int row, String what) {
        return new ImageError.Corrupt(file, -1, "chunk " + row + ": " + what);
    }
}
