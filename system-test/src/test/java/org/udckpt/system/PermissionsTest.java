package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/**
 * A file that the job has open, and that could not be opened again since its permissions have changed: the checkpoint
 * is refused, and so are the restart and its plan where they have changed later. Which permissions:
 * {@link org.udckpt.linux.Access}.
 */
@Timeout(300)
class PermissionsTest {
    private static final String PROGRAM =
            "exec 3<>@/file; echo started; until [ -e @/finish ]; do sleep 0.05; done; echo more >&3; echo result";

    private static int attribute(String change, Path file) throws Exception {
        return new ProcessBuilder("chattr", change, file.toString()).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    @Tag("slow")
    @Test
    void refusedAtTheCheckpointOrAtTheRestart() throws Exception {
        OrdinaryUser.requireRoot(); // who can set the attribute
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", PROGRAM))) {
            Path file = Files.createFile(tree.file("file"));
            assumeTrue(attribute("+a", file) == 0 && attribute("-a", file) == 0, "the file system has no attribute a");
            try {
                tree.start();
                tree.await("started");
                assertEquals(0, attribute("+a", file));
                assertEquals(69, tree.checkpoint(), tree::text);
                assertTrue(tree.text().contains(file + " is open, but a restart could not open it again: EPERM")
                        && tree.text().contains("the job goes on"), tree.text());
                assertEquals(0, attribute("-a", file));
                tree.checkpointAndKill();
                assertEquals(0, attribute("+i", file));
                assertEquals(74, tree.plan(), tree::refusal);
                assertTrue(tree.refusal().contains(file + ", which the job uses, cannot be opened: EPERM"),
                        tree.refusal());
                assertEquals(74, tree.refusedRestart());
                assertTrue(tree.refusal().contains(file + ", which the job uses, cannot be opened: EPERM"),
                        tree.refusal());
            } finally {
                attribute("-a", file);
                attribute("-i", file);
            }
            tree.restart();
            tree.finish();
            assertEquals("more\n", Files.readString(file));
            tree.good();
        }
    }
}
