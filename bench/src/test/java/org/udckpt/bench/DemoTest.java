package org.udckpt.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.bench.command.Command;

/** The demonstration that the README promises, as a user starts it, with two ranks and less to carry. */
@Tag("slow")
class DemoTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    @Test
    @Timeout(value = 1800, unit = TimeUnit.SECONDS)
    void showsTheSameAnswerOnOtherAddresses() throws Exception {
        String script = Path.of(System.getProperty("udckpt.root")).resolve("udckpt").toString();
        List<String> words =
                List.of(script, "demo", "-n", "2", "--ballast", "8", "--work", directory.resolve("work").toString());
        try (Command demo = Command.start(directory, Map.of(), line -> {}, words)) {
            int code = demo.await(Duration.ofSeconds(1780));
            assertEquals(0, code, demo::describe);
            List<String> lines = demo.output().allLines();
            assertTrue(lines.stream().anyMatch(line -> line.contains("equal bit for bit")), demo::describe);
            assertTrue(lines.stream().anyMatch(line -> line.strip().startsWith("snapshot ")), demo::describe);
        }
    }
}
