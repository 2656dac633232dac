package org.udckpt.support.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.inspect.debug.Selection;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** A settings file of the site or of a user, and texts of options and variables: the first byte says which. */
@Fuzzes({Settings.class, FilePatterns.class, Interval.class, ExternalConnections.class, Selection.class, Tiers.class,
        SlurmNodes.class})
public final class SettingsFuzz {
    private static final Path FILE = file();

    private SettingsFuzz() {}

    private static Path file() {
        try {
            Path file = Files.createTempFile(Path.of("/dev/shm"), "fuzz", ".conf");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        String text = new String(bytes, StandardCharsets.UTF_8);
        try {
            switch (Byte.toUnsignedInt(input[0]) % 4) {
                case 0 -> {
                    Files.write(FILE, bytes);
                    Settings.load(FILE, Path.of("/nowhere"), Map.of()).checked();
                }
                case 1 -> Selection.parse(text);
                case 2 -> Tiers.parse(text);
                default -> SlurmNodes
                        .of(Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NODELIST", "node1", "SLURM_TASKS_PER_NODE", text));
            }
        } catch (Failure e) {
            if (e.code() == ExitCode.INTERNAL) {
                throw e;
            }
        }
    }
}
