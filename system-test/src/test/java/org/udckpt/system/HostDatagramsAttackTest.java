package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.Tries;
import org.udckpt.hosts.HostLab;

/**
 * A third host on the network of an MPI job's hosts, whose root can send from any address: its datagrams have headers
 * and sources that are right, and no right tag.
 */
@Tag("slow")
@Timeout(600)
class HostDatagramsAttackTest {
    private static final int SECONDS = 240;
    private static final String NEVER = "-1";
    private static final String BURSTS = "5";

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ud_verbs,self", "rc_v,self"})
    void tagsKeepThemOut(String transport) throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            Path finish = hosts.directory.resolve("finish");
            hosts.environment.put("UCX_TLS", transport);
            Process job = hosts.several("job", "run", "--name", "job", "--dir",
                    hosts.directory.resolve("images").toString(), "--hosts", hosts.hosts(1, 2, 3), "--",
                    CommandLine.artifact("programs/overrun").toString(), NEVER,
                    hosts.directory.resolve("log").toString(), finish.toString());
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("step"));
            List<String> command = new ArrayList<>(
                    List.of(CommandLine.artifact("attacks/forge_datagrams").toString(), "spoof", HostLab.NET, BURSTS));
            command.addAll(ports(hosts, 2));
            command.addAll(ports(hosts, 3));
            assertTrue(command.size() >= 6, command::toString);
            Tries.noneWins("datagrams from a third host into a job over " + transport, number -> {
                Process stranger = hosts.lab.host(4).command(command).redirectErrorStream(true).start();
                String said = new String(stranger.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(stranger.waitFor(SECONDS, TimeUnit.SECONDS) && stranger.exitValue() == 0, said);
                return !job.isAlive();
            });
            hosts.await("the count of what was refused", "job", () -> refused(hosts) > 0);
            Files.createFile(finish);
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(hosts.output("job").contains("budget 1000, 0 sums wrong"), () -> hosts.text("job"));
            assertTrue(hosts.errors("job").contains("its tag was not made with this job's key"),
                    () -> hosts.text("job"));
            hosts.good();
        }
    }

    /** LID:QPN of the soft fabric's sockets on a host. */
    private static List<String> ports(SeveralHosts hosts, int number) throws Exception {
        Process sockets = hosts.lab.host(number).command("ss", "-Hun", "-a").start();
        List<String> ports = new ArrayList<>();
        for (String line : sockets.inputReader().lines().toList()) {
            String[] address = line.trim().split(" +")[3].split("[.:]");
            if ((address[0] + "." + address[1]).equals(HostLab.NET) && !address[4].equals("65535")) {
                ports.add((Integer.parseInt(address[2]) << 8 | Integer.parseInt(address[3])) + ":" + address[4]);
            }
        }
        assertEquals(0, sockets.waitFor());
        return ports;
    }

    private static long refused(SeveralHosts hosts) throws Exception {
        Files.deleteIfExists(hosts.directory.resolve("status.out"));
        Files.writeString(hosts.directory.resolve("status.out"), "", StandardOpenOption.CREATE);
        assertEquals(0, hosts.run("status", SECONDS, "status", "job", "--json"), () -> hosts.text("status"));
        JsonNode job = new ObjectMapper().readTree(hosts.output("status")).at("/jobs/0");
        return job.at("/counters/refused").asLong();
    }
}
