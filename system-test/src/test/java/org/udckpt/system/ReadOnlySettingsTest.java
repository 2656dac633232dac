package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.system.cli.ScriptedJava;
import org.udckpt.system.cli.Udckpts;

/** Where nobody can write to /proc/sys, as in most containers, a restart could not give a queue its number again. */
@Timeout(120)
class ReadOnlySettingsTest {
    private static final String MOUNTS =
            "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec \"$@\"";
    private static final String PROGRAM = """
            id=$(ipcmk -Q | tr -dc 0-9)
            echo $id >id
            echo ready
            until [ -e drop ]; do sleep 0.05; done
            ipcrm -q $id; touch dropped
            until [ -e finish ]; do sleep 0.05; done
            echo over""";

    @TempDir
    Path directory;

    private void removeQueue() throws Exception {
        Path id = directory.resolve("id");
        if (Files.exists(id)) {
            new ProcessBuilder("ipcrm", "-q", Files.readString(id).strip()).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
        }
    }

    @Test
    void aQueueIsRefusedWhileItIsThere() throws Exception {
        OrdinaryUser.requireRoot(); // who can mount
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", MOUNTS, "sh"));
        command.addAll(ScriptedJava.command("run"));
        command.addAll(List.of("org.udckpt.cli.Main", "run", "--name", "queue", "--dir",
                directory.resolve("images").toString(), "--", "sh", "-c", PROGRAM));
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start(command, Map.of(), new File("/dev/null"));
            job.awaitOutput("ready");
            Udckpts.Result refused = udckpts.run("checkpoint", "queue");
            assertEquals(69, refused.code(), refused::toString);
            assertTrue(refused.errors().contains("a System V message queue, to which a restart could not give its "
                    + "number again (open /proc/sys/kernel/msg_next_id: EROFS"), refused::toString);
            Files.createFile(directory.resolve("drop"));
            job.await(() -> Files.exists(directory.resolve("dropped")));
            Udckpts.Result taken = udckpts.run("checkpoint", "queue");
            assertEquals(0, taken.code(), taken::toString);
            Files.createFile(directory.resolve("finish"));
            Udckpts.Result end = job.await(60);
            assertEquals(0, end.code(), end::toString);
            assertTrue(end.output().endsWith("over\n"), end::toString);
        } finally {
            removeQueue(); // of a program that was killed
        }
    }
}
