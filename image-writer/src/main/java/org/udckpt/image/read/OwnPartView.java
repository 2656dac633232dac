package org.udckpt.image.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.udckpt.image.ImageNames;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.ReadOnlyView;
import org.udckpt.image.storage.StorageIo;

/**
 * Checkpoints of which a host still has the part of one of its nodes on storage of its own: what is there is read from
 * there. The manifest, with its digests, is the checkpoint's in any case. A part whose tables are not, byte for byte,
 * those of the checkpoint is that of another one which had this number: it is passed over.
 */
final class OwnPartView extends ReadOnlyView {
    private static final int CHUNK = 1 << 20;

    private final HostParts parts;
    private final int node;
    private final Consumer<Path> passedOver;
    private final Map<Long, Boolean> same = new HashMap<>();

    /** @param passedOver is told of each part that is another checkpoint's, once */
    OwnPartView(StorageIo.Session io, HostParts parts, int node, Consumer<Path> passedOver) {
        super(io);
        this.parts = parts;
        this.node = node;
        this.passedOver = passedOver;
    }

    @Override
    public Session session() {
        return new OwnPartView(io().session(), parts, node, passedOver);
    }

    @Override
    public Input open(Path file) throws IOException {
        return io().open(place(file));
    }

    @Override
    public Path place(Path file) throws IOException {
        OptionalLong checkpoint = ImageNames.id(file.getParent());
        if (checkpoint.isEmpty() || !file.getFileName().toString().startsWith(ImageNames.node(node))
                || !isOf(checkpoint.getAsLong(), file.getParent())) {
            return file;
        }
        Path own = parts.part(node, checkpoint.getAsLong()).resolve(file.getFileName());
        return length(own) == length(file) ? own : file;
    }

    private synchronized boolean isOf(long checkpoint, Path whole) throws IOException {
        Boolean known = same.get(checkpoint);
        if (known == null) {
            Path part = parts.part(node, checkpoint);
            known = hasTablesOf(whole, part);
            same.put(checkpoint, known);
            if (!known && isThere(part)) {
                passedOver.accept(part);
            }
        }
        return known;
    }

    private boolean hasTablesOf(Path whole, Path part) throws IOException {
        for (Path table : io().list(whole)) {
            String name = table.getFileName().toString();
            if (name.startsWith(ImageNames.node(node)) && !ImageNames.isStripe(name)
                    && !isEqual(table, part.resolve(name))) {
                return false;
            }
        }
        return true;
    }

    private boolean isEqual(Path one, Path other) throws IOException {
        try (Input a = io().open(one); Input b = io().open(other)) {
            if (a.length() != b.length()) {
                return false;
            }
            for (long at = 0; at < a.length(); at += CHUNK) {
                int length = (int) Math.min(CHUNK, a.length() - at);
                ByteBuffer first = ByteBuffer.allocate(length);
                ByteBuffer second = ByteBuffer.allocate(length);
                a.read(first, at);
                b.read(second, at);
                if (!first.flip().equals(second.flip())) {
                    return false;
                }
            }
            return true;
        } catch (NoSuchFileException e) {
            return false; // this host does not have it
        }
    }

    private boolean isThere(Path part) throws IOException {
        try {
            return !io().list(part).isEmpty();
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** -1: it is not there. */
    private long length(Path file) throws IOException {
        try (Input input = io().open(file)) {
            return input.length();
        } catch (NoSuchFileException e) {
            return -1;
        }
    }
}
