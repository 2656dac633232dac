package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.tracking.WriteTracking;

/**
 * A program that begins to use userfaultfd(2) after incremental checkpoints have had the kernel note what it writes:
 * its memory is its own then, and is read from now on.
 */
@Timeout(120)
class LateFaultsTest {
    @Test
    void memoryIsLeftToWhoTakesIt() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(
                List.of(CommandLine.artifact("programs/late_faults").toString(), "@/take", "@/finish"))) {
            tree.start("--full-interval", "100");
            tree.await("ready");
            assertEquals(0, tree.checkpoint());
            assertEquals(0, tree.checkpoint());
            assertTrue(!tracked() || unread(tree) >= 2048, unread(tree) + " pages were not read");
            Files.createFile(tree.file("take"));
            tree.await("taken");
            assertEquals(0, tree.checkpoint());
            assertEquals(0, unread(tree));
            tree.finish();
            tree.good();
        }
    }

    private static boolean tracked() {
        try (WriteTracking tracking = WriteTracking.ifAvailable()) {
            return tracking.on();
        }
    }

    private static long unread(ProcessTreeJob tree) throws Exception {
        return tree.json("inspect", tree.file("images").toString(), "--json").at("/pages/unread").asLong(-1);
    }
}
