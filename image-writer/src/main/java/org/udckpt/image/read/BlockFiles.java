package org.udckpt.image.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.manifest.ManifestText;

/** The stripe files of one node of one checkpoint, and the blocks in them. Thread-safe. */
final class BlockFiles implements Closeable {
    private final ImageFiles image;
    private final Manifest.Node node;
    private final List<Block> blocks;
    private final Stripes stripes;

    /** Checks the rows. @param stripes closed with it, also when this throws */
    BlockFiles(ImageFiles image, Manifest.Node node, List<Block> blocks, Stripes stripes) throws IOException {
        this.image = image;
        this.node = node;
        this.blocks = blocks;
        this.stripes = stripes;
        try {
            new BlockCheck(image.directory().resolve(ImageNames.nodeTable(node.index(), ManifestText.cover(image.manifest().version()))), image.manifest(),
                    stripes.lengths()).check(blocks);
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    List<Block> blocks() {
        return blocks;
    }

    /** For one thread; see {@link ImageFiles#cipher}. */
    BlockReader reader() throws ImageError {
        ImageCipher cipher = image.cipher();
        return new BlockReader(image.manifest().integrity(), cipher == null ? null : cipher.worker());
    }

    /** Fills {@code into} with what is in the stripe file. */
    void stored(Block block, ByteBuffer into) throws IOException {
        stripes.input(block.stripe()).read(into, block.offset());
    }

    /** @param where whose memory it is, or "" */
    ImageError.Corrupt damaged(Block block, String where, String what) {
        return new ImageError.Corrupt(stripes.file(block.stripe()), block.offset(), where + " (node " + node.index() + ", " + node.host() + "): block "
                + blocks.indexOf(block) + " with " + block.length() + " bytes: " + what + image.advice());
    }

    @Override
    public void close() throws IOException {
        stripes.close();
    }
}
