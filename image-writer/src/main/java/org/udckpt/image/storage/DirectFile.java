package org.udckpt.image.storage;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.StandardOpenOption;
import org.udckpt.image.Range;
import org.udckpt.linux.FileSystemFacts;
import org.udckpt.linux.Files;

/**
 * A second channel of a file that is open, past the page cache: by its descriptor, since by its name it could be
 * another one by now.
 */
final class DirectFile {
    private DirectFile() {}

    /**
     * Past the page cache. Null where the file system does not take O_DIRECT (EINVAL, open(2)), wants more than
     * 4096-byte alignment, or is nothing but page cache (tmpfs, which takes it since Linux 6.6).
     */
    static FileChannel open(int descriptor, StandardOpenOption how) throws IOException {
        FileSystemFacts facts = FileSystemFacts.of(descriptor);
        if (facts.blockSize() > Range.PAGE || facts.isTmpfs()) {
            return null;
        }
        try {
            return Files.channel(descriptor, how, ExtendedOpenOption.DIRECT);
        } catch (FileSystemException | UnsupportedOperationException e) {
            return null;
        }
    }
}
