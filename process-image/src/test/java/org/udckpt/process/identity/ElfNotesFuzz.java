package org.udckpt.process.identity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;

/** The notes of a file that a program has mapped, whoever wrote it. */
@Fuzzes(ElfNotes.class)
public final class ElfNotesFuzz {
    private static final Path FILE = file();

    private ElfNotesFuzz() {}

    private static Path file() {
        try {
            Path file = java.nio.file.Files.createTempFile(Path.of("/dev/shm"), "fuzz", ".elf");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        java.nio.file.Files.write(FILE, input);
        int fd = Files.open(FILE.toString(), Syscall.O_RDONLY);
        try {
            ElfNotes.buildId(fd);
        } finally {
            Files.close(fd);
        }
    }
}
