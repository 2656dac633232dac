package org.udckpt.image.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.manifest.ManifestText;
import org.udckpt.image.storage.StorageIo;

/** The stripe files of one node of one checkpoint, and the blocks in them. Thread-safe. */
final class BlockFiles implements Closeable {
    private final CheckpointFiles image;
    private final Manifest.Node node;
    private final List<Block> blocks;
    private final List<Path> files = new ArrayList<>();
    private final List<StorageIo.Input> stripes = new ArrayList<>();

    /** Checks the rows and opens the files. */
    BlockFiles(CheckpointFiles image, Manifest.Node node, List<Block> blocks) throws IOException {
        this.image = image;
        this.node = node;
        this.blocks = blocks;
        List<Manifest.FileEntry> entries = image.stripes(node.index());
        new BlockCheck(
                image.directory()
                        .resolve(ImageNames.nodeTable(node.index(), ManifestText.cover(image.manifest().version()))),
                image.manifest(),
                entries.stream().map(Manifest.FileEntry::length).toList()).check(blocks);
        try {
            for (Manifest.FileEntry entry : entries) {
                Path file = image.directory().resolve(entry.name());
                files.add(image.io().place(file));
                stripes.add(open(file));
            }
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Its length was looked at before: it has been removed since, as by another process that prunes. */
    private StorageIo.Input open(Path file) throws IOException {
        try {
            return image.io().open(file);
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(file, "was removed" + image.advice());
        }
    }

    List<Block> blocks() {
        return blocks;
    }

    /** For one thread; see {@link CheckpointFiles#sealer}. */
    BlockReader reader() throws ImageError {
        return new BlockReader(image.manifest().integrity(), image.sealer());
    }

    /** Fills {@code into} with what is in the stripe file. */
    void stored(Block block, ByteBuffer into) throws IOException {
        stripes.get(block.stripe()).read(into, block.offset());
    }

    /** @param where whose memory it is, or "" */
    ImageError.Corrupt damaged(Block block, String where, String what) {
        Path file = files.get(block.stripe());
        return new ImageError.Corrupt(file, block.offset(),
                where + " (node " + node.index() + ", " + node.host() + "): block "
                        + blocks.indexOf(block) + " with " + block.length() + " bytes: " + what + advice(file));
    }

    /** What a host has for itself is not needed where there is the whole checkpoint. */
    private String advice(Path file) {
        return file.getParent().equals(image.directory()) ? image.advice() : "; remove this file to read the copy in "
                + image.directory();
    }

    @Override
    public void close() throws IOException {
        for (StorageIo.Input stripe : stripes) {
            stripe.close();
        }
    }
}
