package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A key is made by who writes an image, and by nobody else: one that was made to read with would only hide that the
 * right one is missing.
 */
@Timeout(240)
class NoKeyTest {
    @TempDir
    Path temp;

    @Tag("slow")
    @Test
    void whoReadsMakesNone() throws Exception {
        Path checkpoint = Path.of(NoKeyTest.class.getResource("/golden-job-v2/ckpt-0001").toURI());
        Path images = checkpoint.getParent();
        Path key = temp.resolve("none/key");
        try (Udckpts udckpt = new Udckpts(temp)) {
            for (List<String> command : List.of(List.of("verify", images.toString()),
                    List.of("list", images.toString()), List.of("list", "--json", images.toString()),
                    List.of("inspect", checkpoint.toString()),
                    List.of("diff", checkpoint.toString(), checkpoint.toString()),
                    List.of("export-core", "--rank", "0", "--output", temp.resolve("core").toString(),
                            images.toString()),
                    List.of("restart", images.toString()),
                    List.of("prune", "--keep", "1", images.toString()))) {
                Udckpts.Result result = run(udckpt, key, command);
                assertEquals(77, result.code(), command + ": " + result);
                assertTrue(result.errors().contains("there is no key in " + key)
                        && result.errors().contains("UDCKPT_KEY_FILE"), result.toString());
                assertEquals("", result.output());
            }
            Files.createDirectory(temp.resolve("empty"));
            assertEquals(66, run(udckpt, key, List.of("verify", temp.resolve("empty").toString())).code());
            assertEquals(0, run(udckpt, key, List.of("list", temp.resolve("empty").toString())).code());
            assertEquals(0, run(udckpt, key, List.of("status")).code());
            assertFalse(Files.exists(key.getParent()), "something was made");
            Udckpts.Result written =
                    run(udckpt, key, List.of("run", "--dir", temp.resolve("images").toString(), "--", "/bin/true"));
            assertEquals(0, written.code(), written.toString());
            assertTrue(Files.exists(key), "run makes one");
        }
    }

    /** Also where the file is there. */
    @Test
    void aKeyThatCannotBeReadIsNamedWithTheReason() throws Exception {
        String images = Path.of(NoKeyTest.class.getResource("/golden-job-v2/ckpt-0001").toURI()).getParent().toString();
        try (Udckpts udckpt = new Udckpts(temp)) {
            Udckpts.Result result =
                    run(udckpt, Files.createDirectory(temp.resolve("directory")), List.of("list", images));
            assertTrue(result.code() == 77 && result.errors().contains("is not a regular file"), result.toString());
            Path loop = temp.resolve("loop");
            result = run(udckpt, Files.createSymbolicLink(loop, loop), List.of("list", images));
            assertTrue(
                    result.code() == 77
                            && result.errors().contains("cannot be read: Too many levels of symbolic links"),
                    result.toString());
            Path pipe = temp.resolve("pipe");
            assertEquals(0, new ProcessBuilder("mkfifo", "-m", "600", pipe.toString()).start().waitFor());
            result = run(udckpt, pipe, List.of("list", images));
            assertTrue(result.code() == 77 && result.errors().contains("is not a regular file"), result.toString());
        }
    }

    private static Udckpts.Result run(Udckpts udckpt, Path key, List<String> command) throws Exception {
        return udckpt
                .start(Map.of("UDCKPT_KEY_FILE", key.toString()), new File("/dev/null"), command.toArray(String[]::new))
                .await(60);
    }
}
