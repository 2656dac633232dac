package org.udckpt.system.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.system.cli.Udckpts;

/**
 * Another user of the host sends datagrams into the ports of a running MPI job, with headers that are right in
 * everything that he can learn or guess. The job computes as if nothing was, over datagrams and over connections.
 */
@Timeout(600)
class DatagramAttackTest {
    private static final String ROOT = "0";
    private static final String NEVER = "-1";
    /** Of all ports to all ports, once. */
    private static final String BURST = "1";

    @TempDir
    Path directory;

    @BeforeEach
    void root() throws IOException {
        OrdinaryUser.requireRoot();
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"ud_verbs,self", "rc_v,self"})
    void datagramsOfAStrangerChangeNothing(String transport) throws Exception {
        Path tools = Files.createTempDirectory(Path.of("/tmp"), "udckpt-attack");
        Path finish = directory.resolve("finish");
        try (Udckpts udckpts = new Udckpts(directory)) {
            Files.setPosixFilePermissions(tools, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path forger = OrdinaryUser.program("forge_datagrams", tools);
            Udckpts.Running job = udckpts.start(Map.of("UCX_TLS", transport), new File("/dev/null"), "run", "-n", "2",
                    "--name", "attacked", "--dir",
                    directory.resolve("images").toString(), "--", Udckpts.program("overrun"), NEVER,
                    directory.resolve("log").toString(), finish.toString());
            job.awaitOutput("step");
            Tries.noneWins("datagrams into a job over " + transport, number -> {
                assertEquals(0, OrdinaryUser.STRANGER.run(forger.toString(), ROOT, BURST), "there was a port");
                return !job.isAlive();
            });
            assertTrue(refused(udckpts) > 0, "they are counted");
            Files.createFile(finish);
            Udckpts.Result end = job.await(120);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().contains("budget 1000, 0 sums wrong"), end.toString());
            assertTrue(end.errors().contains("dropped a datagram"), end.toString());
        } finally {
            Files.deleteIfExists(tools.resolve("forge_datagrams"));
            Files.delete(tools);
        }
    }

    private static long refused(Udckpts udckpts) throws Exception {
        Udckpts.Result status = udckpts.run("status", "attacked", "--json");
        assertEquals(0, status.code(), status.toString());
        long refused = 0;
        for (JsonNode rank : new ObjectMapper().readTree(status.output()).at("/jobs/0/ranks")) {
            refused += rank.at("/counters/refused").asLong();
        }
        return refused;
    }
}
