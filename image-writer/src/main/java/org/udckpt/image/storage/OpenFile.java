package org.udckpt.image.storage;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.udckpt.image.Range;
import org.udckpt.linux.FileSystemFacts;
import org.udckpt.linux.Files;

/** Channels of a file that is open already, by its descriptor: by its name it could be another one by now. */
final class OpenFile {
    private OpenFile() { }

    /** For what is still to be read or written when the descriptor is closed. */
    static FileChannel channel(int descriptor, StandardOpenOption how) throws IOException {
        return open(descriptor, new OpenOption[] {how});
    }

    /**
     * Past the page cache. Null where the file system does not take O_DIRECT (EINVAL, open(2)), wants more than 4096-byte alignment, or is nothing but
     * page cache (tmpfs, which takes it since Linux 6.6).
     */
    static FileChannel direct(int descriptor, StandardOpenOption how) throws IOException {
        FileSystemFacts facts = FileSystemFacts.of(descriptor);
        if (facts.blockSize() > Range.PAGE || facts.isTmpfs()) {
            return null;
        }
        try {
            return open(descriptor, new OpenOption[] {how, ExtendedOpenOption.DIRECT});
        } catch (FileSystemException | UnsupportedOperationException e) {
            return null;
        }
    }

    /** What /proc/self/fd leads to is looked at first: where that is not the kernel's, nothing is opened. */
    private static FileChannel open(int descriptor, OpenOption[] how) throws IOException {
        String name = Files.ofDescriptor(descriptor);
        if (!Files.stat(name).isSame(Files.stat(descriptor))) {
            throw new IOException(name + " is another file than descriptor " + descriptor + ": /proc is not the kernel's");
        }
        return FileChannel.open(Path.of(name), how);
    }
}
