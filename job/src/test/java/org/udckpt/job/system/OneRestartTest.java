package org.udckpt.job.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.DirectoryLock;

/** While one restart puts the job's files back, another one of the same checkpoints does not touch them. */
@Timeout(300)
class OneRestartTest {
    private static final String PROGRAM = "exec 3>>@/log; echo before >&3; echo started; until [ -e @/finish ]; do sleep 0.05; done; echo after >&3; echo result";

    @Test
    void theSecondOneIsToldToWait() throws Exception {
        try (Tree tree = new Tree(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            Files.writeString(tree.file("log"), "before\nof a future that is undone\n");
            try (DirectoryLock other = DirectoryLock.tryTake(tree.file("images").toString())) {
                assertNotNull(other);
                assertEquals(75, tree.refusedRestart(), tree::text);
                assertTrue(tree.refusal().contains("another restart from " + tree.file("images")), tree.refusal());
                assertEquals("before\nof a future that is undone\n", Files.readString(tree.file("log")));
            }
            tree.restart();
            tree.finish();
            assertEquals("before\nafter\n", Files.readString(tree.file("log")));
            tree.good();
        }
    }

    /** Which is restarted from the other one of its directories, on another node. */
    @Test
    void itMayReadFromAnotherTier() throws Exception {
        try (Tree tree = new Tree(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            Files.writeString(tree.file("log"), "before\nof a future that is undone\n");
            Files.createDirectory(tree.file("slow"));
            String tiers = "fast=" + tree.file("images") + ",slow=" + tree.file("slow");
            try (DirectoryLock other = DirectoryLock.tryTake(tree.file("slow").toString())) {
                assertNotNull(other);
                assertEquals(75, tree.refusedRestart(tiers), tree::text);
                assertTrue(tree.refusal().contains("another restart from " + tree.file("slow")), tree.refusal());
                assertEquals("before\nof a future that is undone\n", Files.readString(tree.file("log")));
            }
            tree.restart();
            tree.finish();
            tree.good();
        }
    }
}
