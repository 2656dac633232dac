package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When a command builds first (scripts/build.sh). */
@Timeout(120)
class BuildScriptTest {
    @TempDir
    Path directory;

    /**
     * A part is left out for want of a header, of a compiler: when that is installed later the next command builds it.
     */
    @Test
    void whatWasMissingIsBuiltWhenItIsThere() throws Exception {
        Path built = Files.createDirectories(directory.resolve("tree/native/target/cmake"));
        Files.createFile(built.resolve("libudckpt.so"));
        Files.createFile(Files.createDirectories(directory.resolve("tree/target")).resolve("built"));
        Path header = directory.resolve("some.h");
        Files.writeString(built.resolve("left-out"), header + "\nno-such-compiler\n");
        assertEquals("built\n", ask());
        Files.createFile(header);
        assertEquals("to be built\n", ask());
        Files.writeString(built.resolve("left-out"), "sh\n");
        assertEquals("to be built\n", ask());
        Files.writeString(built.resolve("left-out"), "");
        assertEquals("built\n", ask());
    }

    private String ask() throws Exception {
        String script = "root=$1; . \"$0\"; if is_built; then echo built; else echo to be built; fi";
        List<String> command = List.of("bash", "-euc", script,
                Path.of(System.getProperty("udckpt.root"), "scripts/build.sh").toString(),
                directory.resolve("tree").toString());
        try (Udckpts udckpts = new Udckpts(directory)) {
            return udckpts.start(command, Map.of(), new File("/dev/null")).await(60).output();
        }
    }
}
