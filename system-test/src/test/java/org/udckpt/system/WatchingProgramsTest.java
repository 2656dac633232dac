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
 * A program that nobody here wrote watches all that happens in a directory of its job: it sees what the job does there,
 * and nothing of checkpoints and restarts.
 */
@Timeout(300)
class WatchingProgramsTest {
    private static final Path INOTIFYWAIT = Path.of("/usr/bin/inotifywait");
    /** Says "line N" into a file that is only open for writing, for each file "say-N". */
    private static final String JOB =
            "mkdir @/watched; exec 3>@/watched/log; inotifywait -m -q --format '%e %f' @/watched >@/events & sleep 1; "
                    + "echo started;"
                    + " n=1; until [ -e @/finish ]; do if [ -e @/say-$n ]; then echo line $n >&3; n=$((n + 1)); fi; "
                    + "sleep 0.05; done; kill $!; echo result $n";

    @Tag("slow")
    @Test
    void onlyTheJobsOwnEventsAreSeen() throws Exception {
        OrdinaryUser.requireRoot(); // nobody else can hide that files are read
        assumeTrue(Files.isExecutable(INOTIFYWAIT), "no inotify-tools");
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("sh", "-c", JOB))) {
            tree.start("--files", tree.file("watched").toString());
            tree.await("started");
            say(tree, 1);
            assertEquals(0, tree.checkpoint(), tree::text);
            say(tree, 2);
            assertEquals(0, tree.checkpoint(), tree::text);
            tree.checkpointAndKill();
            tree.restart();
            tree.await("");
            Thread.sleep(500);
            say(tree, 3);
            tree.finish();
            assertEquals("line 1\nline 2\nline 3\n", Files.readString(tree.file("watched/log")));
            assertEquals("MODIFY log\n".repeat(3), Files.readString(tree.file("events")));
            tree.good();
        }
    }

    private static void say(ProcessTreeJob tree, int number) throws Exception {
        Files.createFile(tree.file("say-" + number));
        String wanted = "MODIFY log\n".repeat(number);
        for (int round = 0; round < 500 && Files.readString(tree.file("events")).length() < wanted.length(); round++) {
            Thread.sleep(20);
        }
        assertTrue(Files.readString(tree.file("events")).endsWith("MODIFY log\n"), tree::text);
    }
}
