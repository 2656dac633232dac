package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * Jobs that start and end processes all the time, with and without verbs devices, are checkpointed and restarted like
 * any other.
 */
@Timeout(600)
class ProcessChurnTest {
    private static final int CHECKPOINTS = 5;

    @TempDir
    Path directory;

    /** Each rank of an MPI job runs system("true"), popen and the like without a pause. */
    @Tag("slow")
    @Test
    void ranksThatCallSystemAllTheTime() throws Exception {
        checkpointAndRestart("round ", Udckpts.program("churn"), finish());
    }

    /** The rank is a shell script; its program computes while the script's loops fork. */
    @Tag("slow")
    @Test
    void scriptsThatForkAllTheTime() throws Exception {
        Path script = script("""
                #!/bin/bash
                (
                  while [ ! -e "$2" ]; do
                    word=$(echo on | tr n k)
                    [ "$word" = ok ] || { echo "FAIL: $word"; exit 1; }
                    /bin/true || exit 1
                  done
                ) &
                "$1" "$2" quiet
                code=$?
                wait $! && exit $code
                exit 9
                """);
        checkpointAndRestart("round ", script.toString(), Udckpts.program("churn"), finish());
    }

    /** Every process of the job opens a device, and lives only for milliseconds. */
    @Tag("slow")
    @Test
    void processesThatOpenADeviceAndEnd() throws Exception {
        Path script = script("""
                #!/bin/bash
                count=0
                while [ ! -e "$2" ]; do
                  got=$(echo open | "$1")
                  case $got in address*) ;; *) echo "FAIL: $got"; exit 1 ;; esac
                  count=$((count + 1))
                  echo "round $count"
                done
                echo PASS
                """);
        checkpointAndRestart("round ", script.toString(), Udckpts.nativeFile("virtualization/ud_client").toString(),
                finish());
    }

    private String finish() {
        return directory.resolve("finish").toString();
    }

    private Path script(String text) throws Exception {
        Path script = Files.writeString(directory.resolve("script"), text);
        return Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void checkpointAndRestart(String sign, String... command) throws Exception {
        String images = directory.resolve("images").toString();
        try (Udckpts udckpts = new Udckpts(directory)) {
            String[] words = new String[8 + command.length];
            System.arraycopy(new String[]{"run", "-n", "2", "--name", "churn", "--dir", images, "--"}, 0, words, 0, 8);
            System.arraycopy(command, 0, words, 8, command.length);
            Udckpts.Running run = udckpts.start(words);
            run.awaitOutput(sign);
            for (int i = 1; i <= CHECKPOINTS; i++) {
                checkpoint(new RuntimeDirectory(udckpts.runtime().resolve("churn")), "ckpt-%04d".formatted(i),
                        i == CHECKPOINTS);
            }
            assertEquals(0, run.await(100).code(), "a job ended after its checkpoint is done");
            Udckpts.Running next = udckpts.start("restart", images);
            next.awaitOutput(sign);
            Files.createFile(directory.resolve("finish"));
            Udckpts.Result end = next.await(200);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().contains("PASS"), end.toString());
            assertFalse((end.output() + run.soFar().output() + end.errors()).contains("FAIL"), end.toString());
        }
    }

    /** As {@code udckpt checkpoint [--then kill]}, without a JVM of its own for each. */
    private static void checkpoint(RuntimeDirectory job, String id, boolean kill) {
        try (CommandClient agent = CommandClient.connect(job)) {
            assertEquals(id, agent.ask(agent.request("checkpoint").put("wait", true).put("kill", kill), event -> {})
                    .path("id").asText());
        }
    }
}
