package org.udckpt.address;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;

/**
 * Counters and remote keys in files that each process of the job can write: the first byte says which, the second how
 * much is behind the input.
 */
@Fuzzes({CountersFile.class, KeysFile.class, SharedFile.class})
public final class SharedFilesFuzz {
    private static final Path FILE = file();
    private static final int PIECE = 4096;

    private SharedFilesFuzz() {}

    private static Path file() {
        try {
            Path memory = Path.of("/dev/shm");
            Path file = Files.isDirectory(memory) ? Files.createTempFile(memory, "fuzz", ".shared")
                    : Files.createTempFile("fuzz", ".shared");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length < 2) {
            return;
        }
        Files.write(FILE, Arrays.copyOf(Arrays.copyOfRange(input, 2, input.length),
                input.length - 2 + PIECE * Byte.toUnsignedInt(input[1])));
        try {
            if ((input[0] & 1) == 0) {
                try (CountersFile counters = CountersFile.open(FILE)) {
                    counters.all();
                    counters.of(input[1]);
                }
            } else {
                KeysFile.read(FILE);
            }
        } catch (IOException e) {
            // as promised
        }
    }
}
