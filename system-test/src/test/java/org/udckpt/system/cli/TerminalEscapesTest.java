package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A directory and a process whose names are orders to a terminal: each command shows them, and gives none. */
@Timeout(180)
class TerminalEscapesTest {
    private static final String ESCAPE = "\u001b";
    /** Of 15 bytes at most (prctl(2)); the shell's printf makes it. */
    private static final String NAME = "\\033]0;x\\007\\nudckpt";

    @TempDir
    Path temp;

    @Tag("slow")
    @Test
    void noCommandObeysAName() throws Exception {
        Path images = temp.resolve("images" + ESCAPE + "]0;title\u0007\u009b2J");
        try (Udckpts udckpt = new Udckpts(temp)) {
            Udckpts.Running job = udckpt.start("run", "--name", "a", "--dir", images.toString(), "--", "/bin/sh", "-c",
                    "printf '" + NAME + "' >/proc/$$/comm; echo up; while :; do sleep 0.1; done");
            job.awaitOutput("up");
            assertShown(udckpt.run("status"), "images\\u001b]0;title\\u0007\\u009b2J");
            assertShown(udckpt.run("status", "--json"), "\\u001B]0;x\\u0007"); // JSON's own escape
            assertShown(udckpt.run("checkpoint", "a", "--then", "kill"), "ckpt-0001");
            for (List<String> command : List.of(List.of("list"), List.of("inspect"), List.of("inspect", "--rank", "0"),
                    List.of("verify"))) {
                List<String> words = new java.util.ArrayList<>(command);
                words.add(images.toString());
                assertShown(udckpt.run(words.toArray(String[]::new)), "");
            }
            assertShown(udckpt.run("inspect", images.toString(), "--rank", "0"), "(\\u001b]0;x\\u0007\\u000audckpt)");
            Udckpts.Result refused = udckpt.run("list", images + "-none");
            assertFalse(refused.toString().contains(ESCAPE) || refused.toString().contains("\u009b"),
                    refused.toString());
            Udckpts.Result unknown = udckpt.run("sta" + ESCAPE + "tus");
            assertTrue(unknown.code() == 64 && !unknown.toString().contains(ESCAPE), unknown.toString());
        }
    }

    private static void assertShown(Udckpts.Result result, String part) {
        assertEquals(0, result.code(), result.toString());
        assertFalse(result.toString().contains(ESCAPE) || result.toString().contains("\u009b")
                || result.toString().contains("\u0007"), result.toString());
        assertTrue(result.output().contains(part), result.toString());
    }
}
