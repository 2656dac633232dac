package org.udckpt.image.directory;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * Gives out ids of checkpoints: each higher than any before, also than those of checkpoints that are gone. The last
 * one is kept in the file {@code sequence}; ids are given out under a lock, and the directory is made with mkdir(2),
 * which only one of two writers can win.
 */
public final class CheckpointIds {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})\n");
    private final Path parent;
    private final StorageIo io;

    public CheckpointIds(Path parent, StorageIo io) {
        this.parent = parent;
        this.io = io;
    }

    /** Makes the directory of the next checkpoint, with its writer's lease in it. */
    public Path claim(WriterLease lease) throws IOException {
        makeParent();
        try (Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            long last = last();
            long highest = highest();
            if (Math.max(last, highest) >= ImageNames.LAST_ID) {
                throw last >= highest ? new ImageError.Corrupt(parent.resolve(ImageNames.SEQUENCE), 0, "holds " + last
                        + ", the highest possible number; remove the file to continue "
                        + "after the highest existing checkpoint")
                        : new ImageError.Corrupt(parent.resolve(ImageNames.directory(highest)), -1,
                                "it has the highest possible number: move it away");
            }
            long id = Math.max(last, highest) + 1;
            remember(id);
            return begin(id, lease);
        }
    }

    /**
     * Makes the directory of a checkpoint whose number another directory has given out; numbers from here on are
     * higher.
     */
    public Path claim(long id, WriterLease lease) throws IOException {
        raise(id);
        try (Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            return begin(id, lease);
        }
    }

    private Path begin(long id, WriterLease lease) throws IOException {
        Path directory = parent.resolve(ImageNames.directory(id));
        io.createDirectory(directory);
        SmallFiles.write(io, directory.resolve(ImageNames.WRITER), lease.encode());
        return directory;
    }

    /** The highest number that is or was given out here; 0 when none was. */
    public long latest() throws IOException {
        return io.hasDirectory(parent) ? Math.max(last(), highest()) : 0;
    }

    /** Numbers from here on are higher than {@code id}. */
    public void raise(long id) throws IOException {
        makeParent();
        try (Closeable _ = io.lock(parent.resolve(ImageNames.LOCK))) {
            if (last() < id) {
                remember(id);
            }
        }
    }

    public void makeParent() throws IOException {
        if (io.hasDirectory(parent)) {
            return;
        }
        try {
            io.createDirectory(parent);
        } catch (FileAlreadyExistsException e) {
            // another writer made it between the two calls, or it is a link that leads nowhere
            if (!io.hasDirectory(parent)) {
                throw new NotDirectoryException(parent.toString());
            }
        }
    }

    private long last() throws IOException {
        Path file = parent.resolve(ImageNames.SEQUENCE);
        byte[] content;
        try {
            content = SmallFiles.read(io, file, -1, 64);
        } catch (ImageError.Missing e) {
            return 0;
        }
        var matcher = FORM.matcher(new String(content, StandardCharsets.US_ASCII));
        if (!matcher.matches()) {
            throw new ImageError.Corrupt(file, 0, "does not hold the last checkpoint's number; remove the file to "
                    + "continue "
                    + "after the highest existing checkpoint");
        }
        return Long.parseLong(matcher.group(1));
    }

    private long highest() throws IOException {
        long highest = 0;
        for (Path entry : io.list(parent)) {
            OptionalLong id = ImageNames.id(entry);
            highest = Math.max(highest, id.orElse(0));
        }
        return highest;
    }

    private void remember(long id) throws IOException {
        Path file = parent.resolve(ImageNames.SEQUENCE);
        Path temporary = parent.resolve(ImageNames.SEQUENCE + ".new");
        if (io.list(parent).contains(temporary)) {
            io.delete(temporary);
        }
        SmallFiles.write(io, temporary, (id + "\n").getBytes(StandardCharsets.US_ASCII));
        io.rename(temporary, file);
        io.syncDirectory(parent);
    }
}
