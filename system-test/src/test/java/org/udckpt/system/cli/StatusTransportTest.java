package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What udckpt status says of a job whose MPI talks over reliable connections. */
@Timeout(120)
class StatusTransportTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Test
    void connectionsAreCalledSoAndTheirSendsCounted() throws Exception {
        Files.createFile(directory.resolve("brake"));
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start(Map.of("UCX_TLS", "rc_v,self"), new File("/dev/null"), "run", "-n", "2",
                    "--name", "connected",
                    "--dir", directory.resolve("images").toString(), "--", Udckpts.program("stencil_cg"), "--grid", "8",
                    "--solves", "120",
                    "--iterations", "200", "--brake", directory.resolve("brake").toString());
            while (job.soFar().output().lines().count() < 2) {
                assertTrue(job.isAlive(), job.soFar().toString());
                Thread.sleep(20);
            }
            JsonNode ranks = JSON.readTree(udckpts.run("status", "connected", "--json").output()).at("/jobs/0/ranks");
            assertEquals(2, ranks.size(), ranks.toString());
            for (JsonNode rank : ranks) {
                Set<String> transports = new TreeSet<>();
                rank.path("endpoints").forEach(endpoint -> transports.add(endpoint.path("transport").asText()));
                assertEquals(Set.of("RC", "UD"), transports,
                        "connections, and UCX's datagrams to set them up: " + rank);
                assertNotEquals(0, rank.at("/counters/rc_sends").asLong(), rank.toString());
            }
            String text = udckpts.run("status", "connected").output();
            assertTrue(text.lines().anyMatch(line -> line.startsWith("    RC  job sees LID ")), text);
            assertTrue(text.lines().anyMatch(line -> line.startsWith("    UD  job sees LID ")), text);
        }
    }
}
