package org.udckpt.process.kinds.mount;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.linux.LinuxError;

/** The attributes of a file on a tmpfs of the job's own, as an image has them, whoever wrote it. */
@Fuzzes(ExtendedAttributes.class)
public final class ExtendedAttributesFuzz {
    private static final Path FILE = file();

    private ExtendedAttributesFuzz() {}

    private static Path file() {
        try {
            Path file = java.nio.file.Files.createTempFile(Path.of("/dev/shm"), "fuzz", ".attributes");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the check of the image lets through can be given to a file, or the kernel refuses it. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (ExtendedAttributes.areWhole(input)) {
            try {
                ExtendedAttributes.set(FILE.toString(), "a file of the job", input);
            } catch (LinuxError refused) {
                return;
            }
        }
    }
}
