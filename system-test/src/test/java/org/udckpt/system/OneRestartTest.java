package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LockFile;
import org.udckpt.linux.Syscall;

/** While one restart puts the job's files back, another one of the same checkpoints does not touch them. */
@Timeout(300)
class OneRestartTest {
    private static final int FLOCK = 73, LOCK_EX = 2;
    private static final String PROGRAM =
            "exec 3>>@/log; echo before >&3; echo started; until [ -e @/finish ]; do sleep 0.05; done; echo after "
                    + ">&3; echo result";

    @Tag("slow")
    @Test
    void theSecondOneIsToldToWait() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            Files.writeString(tree.file("log"), "before\nof a future that is undone\n");
            try (Folder images = Folder.open(tree.file("images").toRealPath().toString());
                    LockFile other = LockFile.open(images, "restart.lock")) {
                assertTrue(other.tryLock());
                assertEquals(75, tree.refusedRestart(), tree::text);
                assertTrue(tree.refusal().contains("another restart from " + tree.file("images")), tree.refusal());
                assertTrue(tree.refusal().contains("process " + ProcessHandle.current().pid()), tree.refusal());
                assertEquals("before\nof a future that is undone\n", Files.readString(tree.file("log")));
            }
            int directory = org.udckpt.linux.Files.open(tree.file("images").toString(), Syscall.O_RDONLY);
            assertEquals(0, Syscall.call(FLOCK, directory, LOCK_EX), "whoever can read the directory can lock it");
            tree.restart();
            tree.finish();
            org.udckpt.linux.Files.close(directory);
            assertEquals("before\nafter\n", Files.readString(tree.file("log")));
            tree.good();
        }
    }

    /** Neither under its own name nor beside it; a plan says the same. The job goes on with its files. */
    @Tag("slow")
    @Test
    void theFilesOfAJobThatRunsAreNotRolledBack() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            assertEquals(0, tree.checkpoint(), tree::text);
            for (List<String> words : List.of(List.of("--name", "beside"), List.of("--name", "beside", "--plan"))) {
                assertEquals(75, tree.refused(words), () -> words + tree.text());
                assertTrue(tree.refusal().contains(tree.file("log") + ", which this restart would restore")
                        && tree.refusal().contains("--map-path"), tree.refusal());
            }
            assertEquals(75, tree.refusedRestart(), tree::text);
            assertEquals("before\n", Files.readString(tree.file("log")));
            tree.finish();
            assertEquals("before\nafter\n", Files.readString(tree.file("log")));
            tree.good();
        }
    }

    /** Which is restarted from the other one of its directories, on another node. */
    @Tag("slow")
    @Test
    void itMayReadFromAnotherTier() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            Files.writeString(tree.file("log"), "before\nof a future that is undone\n");
            Files.createDirectory(tree.file("slow"));
            String tiers = "fast=" + tree.file("images") + ",slow=" + tree.file("slow");
            try (Folder slow = Folder.open(tree.file("slow").toRealPath().toString());
                    LockFile other = LockFile.open(slow, "restart.lock")) {
                assertTrue(other.tryLock());
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
