package org.udckpt.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.fuzz.Fuzzes;

/** A program that is to be started. */
@Fuzzes(ElfFile.class)
public final class ElfFileFuzz {
    private static final Path FILE = file();

    private ElfFileFuzz() {}

    private static Path file() {
        try {
            Path memory = Path.of("/dev/shm");
            Path file = Files.isDirectory(memory) ? Files.createTempFile(memory, "fuzz", ".elf")
                    : Files.createTempFile("fuzz", ".elf");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        Files.write(FILE, input);
        try {
            ElfFile.read(FILE);
        } catch (IOException e) {
            // as promised
        }
    }
}
