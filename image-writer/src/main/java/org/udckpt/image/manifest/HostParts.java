package org.udckpt.image.manifest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * Where the parts of a checkpoint's nodes are, when each host has its own for itself:
 * {@code DIRECTORY/node-0003/ckpt-0007} on the host of node 3. Its own directory then holds the manifest and the job's
 * tables, and a file {@code parts} that says so. In a copy that has all of it there is no such file.
 *
 * @param directory absolute; under the same name on all hosts
 */
public record HostParts(Path directory) {
    private static final int LONGEST = 4096; // PATH_MAX

    public HostParts {
        if (!directory.isAbsolute() || directory.getNameCount() < 2) {
            throw new IllegalArgumentException(directory + " is not absolute, or is the root directory");
        }
    }

    /** The host parts of a checkpoint; empty: all of it is where its manifest is. */
    public static Optional<HostParts> of(Path checkpoint, StorageIo io) throws IOException {
        Path file = checkpoint.resolve(ImageNames.PARTS);
        byte[] content;
        try {
            content = SmallFiles.read(io, file, -1, LONGEST);
        } catch (ImageError.Missing e) {
            return Optional.empty();
        }
        try {
            return Optional.of(new HostParts(Path.of(new String(content, StandardCharsets.UTF_8))));
        } catch (IllegalArgumentException e) { // also one that is no path
            throw new ImageError.Corrupt(file, 0, "does not hold a path: " + e.getMessage(), e);
        }
    }

    /** Whether a checkpoint has them elsewhere; of one that cannot be asked: no. */
    public static boolean isOf(Path checkpoint, StorageIo io) {
        try (StorageIo.Input _ = io.open(checkpoint.resolve(ImageNames.PARTS))) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Says so of a checkpoint that is being written, durably but for the name. */
    public void write(Path checkpoint, StorageIo io) throws IOException {
        SmallFiles.write(io, checkpoint.resolve(ImageNames.PARTS),
                directory.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** All that a node's host has of checkpoints. */
    public Path ofNode(int node) {
        String name = ImageNames.node(node);
        return directory.resolve(name.substring(0, name.length() - 1));
    }

    /** A node's part of a checkpoint. */
    public Path part(int node, long checkpoint) {
        return ofNode(node).resolve(ImageNames.directory(checkpoint));
    }
}
