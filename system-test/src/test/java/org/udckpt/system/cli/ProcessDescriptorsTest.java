package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program that has descriptors of processes (pidfd_open(2)), through two checkpoints, kills and restarts by the
 * command; {@code inspect} tells of what they are.
 */
@Timeout(300)
class ProcessDescriptorsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void twice() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Path work = Files.createDirectory(directory.resolve("work"));
            String images = directory.resolve("images").toString();
            Udckpts.Running job = udckpts.start("run", "--name", "first", "--dir", images, "--",
                    Udckpts.nativeFile("features/pidfd").toString(), work.toString());
            job.await(() -> Files.exists(work.resolve("ready")));
            for (int incarnation = 1; incarnation <= 2; incarnation++) {
                kill(udckpts, job, incarnation == 1 ? "first" : "second");
                inspected(udckpts, images);
                assertEquals(0, udckpts.run("restart", "--plan", images).code());
                job = udckpts.start("restart", "--name", "second", images);
                job.await(() -> udckpts.run("status", "second").code() == 0);
            }
            Files.createFile(work.resolve("finish"));
            Udckpts.Result end = job.await(60);
            assertEquals(0, end.code(), end.toString());
            assertEquals("PASS\n", Files.readString(work.resolve("result")));
        }
    }

    private static void kill(Udckpts udckpts, Udckpts.Running job, String name) throws Exception {
        job.await(() -> udckpts.run("checkpoint", name, "--then", "kill").code() == 0 || !job.isAlive());
        job.await(30);
    }

    private static void inspected(Udckpts udckpts, String images) throws Exception {
        Udckpts.Result result = udckpts.run("inspect", images, "--json");
        assertEquals(0, result.code(), result.toString());
        JsonNode process = JSON.readTree(result.output()).at("/processes/0");
        String own = "process " + process.path("pid").asInt();
        for (String name : new String[]{own, "process that has ended"}) {
            assertTrue(StreamSupport.stream(process.path("descriptors").spliterator(), false)
                    .anyMatch(one -> one.path("kind").asText().equals("PidFd")
                            && one.path("name").asText().equals(name)),
                    result.output());
        }
    }
}
