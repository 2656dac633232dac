package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/** A directory of checkpoints that others can write to is refused before the job is touched, unless it was allowed. */
@Timeout(300)
class SharedDirectoryTest {
    private static final String PROGRAM =
            "touch @/begun; echo started; until [ -e @/finish ]; do sleep 0.05; done; echo result";

    private static void mode(Path directory, String mode) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
    }

    @Tag("slow")
    @Test
    void aGroupsDirectoryHasToBeAllowed() throws Exception {
        OrdinaryUser.requireRoot(); // who can give a directory to a group in which others are
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            Path images = Files.createDirectory(tree.file("images"));
            Files.setAttribute(images, "unix:gid", OrdinaryUser.STRANGER.uid());
            mode(images, "rwxrwx---");
            assertEquals(77, tree.refusedRun());
            assertTrue(tree.refusal().contains(images + " can be written by its group")
                    && tree.refusal().contains("--shared-dir"), tree.refusal());
            assertTrue(Files.notExists(tree.file("begun")), "the program has not begun");
            tree.start("--shared-dir");
            tree.await("started");
            tree.checkpointAndKill();
            assertEquals(77, tree.refusedRestart());
            assertTrue(tree.refusal().contains(images + " can be written by its group"), tree.refusal());
            tree.restart("--shared-dir");
            tree.finish();
            tree.good();
        }
    }

    /** That checkpoint is refused, and the job goes on. */
    @Tag("slow")
    @Test
    void alsoAfterTheStart() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            tree.start();
            tree.await("started");
            assertEquals(0, tree.checkpoint(), tree::text);
            mode(tree.file("images"), "rwxrwxrwx");
            assertEquals(77, tree.checkpoint(), tree::text);
            assertTrue(tree.text().contains("can be written by everybody") && tree.text().contains("the job goes on"),
                    tree.text());
            mode(tree.file("images"), "rwx------");
            tree.checkpointAndKill();
            tree.restart();
            tree.finish();
            tree.good();
        }
    }
}
