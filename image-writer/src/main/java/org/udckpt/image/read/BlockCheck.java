package org.udckpt.image.read;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Checksum;
import org.udckpt.image.key.ImageCipher;

/** Holds a table of blocks against the rules of the format, before any of its numbers is used. */
final class BlockCheck {
    private final Path file;
    private final Manifest manifest;
    private final List<Long> stripeLengths;

    /** @param file of the table, for errors */
    BlockCheck(Path file, Manifest manifest, List<Long> stripeLengths) {
        this.file = file;
        this.manifest = manifest;
        this.stripeLengths = stripeLengths;
    }

    /** The blocks are in the order of the stripe files, and cover each of them exactly once. */
    void check(List<Block> blocks) throws ImageError {
        int next = 0;
        for (int stripe = 0; stripe < stripeLengths.size(); stripe++) {
            long at = 0;
            for (; next < blocks.size() && blocks.get(next).stripe() == stripe; next++) {
                checkAlone(blocks.get(next), next);
                if (blocks.get(next).offset() != at) {
                    throw wrong(next,
                            "begins at " + blocks.get(next).offset() + " of stripe " + stripe + ", not at " + at);
                }
                at += blocks.get(next).stored();
            }
            if (at != stripeLengths.get(stripe)) {
                throw wrong(next, "the blocks of stripe " + stripe + " end at " + at + ", the file at "
                        + stripeLengths.get(stripe));
            }
        }
        if (next < blocks.size()) {
            throw wrong(next, "of stripe " + blocks.get(next).stripe() + ", which does not exist or is out of order");
        }
    }

    private void checkAlone(Block b, int row) throws ImageError {
        boolean right = b.codec() != null && b.length() > 0 && b.length() <= Block.MAX_LENGTH
                && b.length() % Range.PAGE == 0 && b.packed() > 0
                && switch (b.codec()) {
                    case RAW -> b.packed() == b.length();
                    case ZSTD -> smaller(b);
                    case PLANES -> smaller(b) && manifest.version() >= Manifest.FIRST_WITH_PLANES;
                };
        if (!right || !protectedAsSaid(b)) {
            throw wrong(row, "not a block: " + b);
        }
    }

    private static boolean smaller(Block b) {
        return b.packed() < b.length() && b.stored() < b.length(); // the first, that the second cannot overflow
    }

    private boolean protectedAsSaid(Block b) {
        if (manifest.encryption() != null || manifest.tagged()) {
            return b.digest() == null && b.seal() != null && b.seal().length == ImageCipher.SEAL_BYTES
                    && (!manifest.tagged() || b.checksum() == 0);
        }
        return b.seal() == null && switch (manifest.integrity()) {
            case XXH3, GMAC -> b.digest() == null;
            case SHA256 -> b.digest() != null && b.digest().length == Checksum.DIGEST_BYTES;
        };
    }

    private ImageError.Corrupt wrong(int row, String what) {
        return new ImageError.Corrupt(file, -1, "block " + row + ": " + what);
    }
}
