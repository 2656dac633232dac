package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/**
 * A restarted job has mounts of its own, so that what it mounts is nobody else's, and goes with it: what it has open
 * there, or below, is refused by a checkpoint, since no restart would find it.
 */
@Tag("slow")
@Timeout(300)
class MountsTest {
    private static final String PROGRAM = """
            wait_for() { until [ -e @/$1 ]; do sleep 0.05; done; }
            echo started
            wait_for cover
            mkdir @/covered @/mounted && mkfifo @/covered/fifo && exec 5<>@/covered/fifo \
                && mount -t tmpfs none @/covered && touch @/covers
            wait_for mount
            umount @/covered && exec 5>@/covered/file && mount -t tmpfs none @/covered && touch @/hides
            wait_for show
            umount @/covered && exec 5>&- && mount -t tmpfs none @/mounted \
                && echo text >@/mounted/file && exec 6<@/mounted/file && touch @/mounts
            wait_for close
            exec 6<&- && cd @/mounted && touch @/closes
            wait_for leave
            cd / && umount @/mounted && touch @/leaves
            wait_for finish
            echo result""";

    private static void step(ProcessTreeJob tree, String begin, String done) throws Exception {
        Files.createFile(tree.file(begin));
        while (Files.notExists(tree.file(done))) {
            tree.await("");
            Thread.sleep(20);
        }
    }

    private static void refused(ProcessTreeJob tree, String words) throws Exception {
        assertEquals(69, tree.checkpoint(), tree::text);
        assertTrue(tree.text().contains(words) && tree.text().contains("the job goes on"), tree.text());
    }

    @Test
    void whatARestartedJobHasMountedIsRefused() throws Exception {
        OrdinaryUser.requireRoot(); // who can mount
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            tree.checkpointAndKill();
            tree.restart();
            tree.await("");
            step(tree, "cover", "covers");
            refused(tree, "FIFO is " + tree.file("covered/fifo") + ", and nothing is under this name now");
            step(tree, "mount", "hides");
            refused(tree, tree.file("covered/file") + ", and nothing is under this name now");
            step(tree, "show", "mounts");
            refused(tree, tree.file("mounted/file") + ", on a file system that is mounted only in the job");
            step(tree, "close", "closes");
            refused(tree, "its working directory is " + tree.file("mounted")
                    + ", on a file system that is mounted only in the job");
            step(tree, "leave", "leaves");
            tree.checkpointAndKill();
            tree.restart();
            tree.finish();
            tree.good();
        }
    }
}
