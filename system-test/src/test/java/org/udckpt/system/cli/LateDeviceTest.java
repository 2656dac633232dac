package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program that is started after a restart inherits the environment of the job's first incarnation: old LID, old
 * runtime directory, which by now is another job's. It must reach the agent of its own incarnation all the same, and be
 * part of the next checkpoint.
 */
@Timeout(600)
class LateDeviceTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SCRIPT = """
            #!/bin/bash
            client=$1 signs=$2
            await() { while [ ! -e "$signs/$1" ]; do sleep 0.02; done; }
            echo waiting
            await open
            coproc CLIENT { exec "$client"; }
            echo open >&"${CLIENT[1]}"
            read -r -u "${CLIENT[0]}" word lid qpn rest
            echo "opened $word $lid $qpn"
            await send
            echo "send $lid $qpn 1 again" >&"${CLIENT[1]}"
            read -r -u "${CLIENT[0]}" sent
            echo "receive 20000" >&"${CLIENT[1]}"
            read -r -u "${CLIENT[0]}" received
            echo "$sent, $received"
            echo open | "$client"
            """;

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void aProgramStartedAfterARestartReachesTheNewAgent() throws Exception {
        Path script = Files.setPosixFilePermissions(Files.writeString(directory.resolve("script"), SCRIPT),
                PosixFilePermissions.fromString("rwxr-xr-x"));
        String images = directory.resolve("images").toString();
        Map<String, String> other = Map.of("UDCKPT_RUNTIME", directory.resolve("other").toString());
        String[] job = {"run", "--name", "first", "--dir", images, "--", script.toString(),
                Udckpts.nativeFile("virtualization/ud_client").toString(),
                directory.toString()};
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running first = udckpts.start(job);
            await(first, "waiting");
            checkpointAndKill(udckpts, Map.of(), "first", first);
            // its runtime directory goes to another job, whose address and agent are not for the restored one
            Udckpts.Running stranger = udckpts.start("run", "--name", "first", "--", "/bin/sleep", "1000");
            while (!udckpts.run("status", "--json").output().contains("running")) {
                assertTrue(stranger.process.isAlive(), stranger.soFar().toString());
            }

            Udckpts.Running second = udckpts.start(other, new File("/dev/null"), "restart", images, "--name", "second");
            Files.createFile(directory.resolve("open"));
            String[] opened = await(second, "opened address ").split(" ");
            JsonNode endpoint = endpoint(udckpts, other, "second");
            assertEquals(opened[2], endpoint.at("/real/lid").asText(), "a new program sees this incarnation's address");
            assertEquals(opened[2], endpoint.at("/virtual/lid").asText());
            assertEquals(0, endpoints(udckpts, Map.of(), "first").size(), "the stranger has no device");
            checkpointAndKill(udckpts, other, "second", second);

            Udckpts.Running third = udckpts.start(other, new File("/dev/null"), "restart", images, "--name", "third");
            JsonNode moved = endpoint(udckpts, other, "third");
            assertEquals(opened[2], moved.at("/virtual/lid").asText());
            assertNotEquals(opened[2], moved.at("/real/lid").asText());
            Files.createFile(directory.resolve("send"));
            Udckpts.Result end = third.await(200);
            assertEquals(0, end.code(), end.toString());
            String[] lines = end.output().split("\n");
            assertEquals(
                    "sent 0, received again from " + opened[2] + " " + opened[3] + " grh none imm 0 qp " + opened[3],
                    lines[0], end.toString());
            assertTrue(lines[1].startsWith("address " + moved.at("/real/lid").asText() + " "),
                    "the second program sees the third incarnation's: " + end);
        }
    }

    private static void checkpointAndKill(Udckpts udckpts, Map<String, String> environment, String name,
            Udckpts.Running run) throws Exception {
        Udckpts.Result checkpoint =
                udckpts.start(environment, new File("/dev/null"), "checkpoint", name, "--then", "kill").await(200);
        assertEquals(0, checkpoint.code(), checkpoint + run.soFar().toString());
        assertEquals(0, run.await(100).code());
    }

    /** The rank's only endpoint, when it has one. */
    private static JsonNode endpoint(Udckpts udckpts, Map<String, String> environment, String name) throws Exception {
        for (int round = 0; round < 100; round++) {
            JsonNode endpoints = endpoints(udckpts, environment, name);
            if (endpoints.size() == 1 && !endpoints.at("/0/real").isNull()) {
                return endpoints.get(0);
            }
            Thread.sleep(50);
        }
        throw new AssertionError("job " + name + " has no endpoint: " + endpoints(udckpts, environment, name));
    }

    private static JsonNode endpoints(Udckpts udckpts, Map<String, String> environment, String name) throws Exception {
        Udckpts.Result status = udckpts.start(environment, new File("/dev/null"), "status", name, "--json").await(200);
        return JSON.readTree(status.output()).at("/jobs/0/ranks/0/endpoints");
    }

    /** The line that begins so, complete. */
    private static String await(Udckpts.Running run, String sign) throws Exception {
        while (true) {
            String output = run.soFar().output();
            int at = output.indexOf(sign);
            if (at >= 0 && output.indexOf('\n', at) > 0) {
                return output.substring(at, output.indexOf('\n', at));
            }
            assertTrue(run.process.isAlive(), run.soFar().toString());
            Thread.sleep(20);
        }
    }
}
