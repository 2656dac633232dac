package org.udckpt.image.read;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.udckpt.image.ImageNames;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.ReadOnlyView;
import org.udckpt.image.storage.StorageIo;

/**
 * Checkpoints of which a host still has the part of one of its nodes on storage of its own: what is there, and as long, is read from there. The manifest, with
 * its digests, is the checkpoint's in any case.
 */
final class OwnPartView extends ReadOnlyView {
    private final HostParts parts;
    private final int node;

    OwnPartView(StorageIo io, HostParts parts, int node) {
        super(io);
        this.parts = parts;
        this.node = node;
    }

    @Override
    public Input open(Path file) throws IOException {
        OptionalLong checkpoint = ImageNames.id(file.getParent());
        Input shared = io().open(file);
        if (checkpoint.isEmpty() || !file.getFileName().toString().startsWith(ImageNames.node(node))) {
            return shared;
        }
        try (Input _ = shared) {
            Input own = io().open(parts.part(node, checkpoint.getAsLong()).resolve(file.getFileName()));
            if (own.length() == shared.length()) {
                return own;
            }
            own.close();
        } catch (NoSuchFileException e) {
            // this host does not have it
        }
        return io().open(file);
    }
}
