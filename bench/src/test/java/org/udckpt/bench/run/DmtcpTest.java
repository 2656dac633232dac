package org.udckpt.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DmtcpTest {
    private static final List<String> COMMAND = List.of("mpiexec.hydra", "-n", "2", "lmp");

    @Test
    void aCheckpointEachSoManySeconds() {
        List<String> launch = List.of("dmtcp_launch", "--new-coordinator", "--quiet", "--port-file",
                "dmtcp_launch.port", "--ckptdir", "dmtcp", "--no-gzip");
        assertEquals(joined(launch, List.of("--interval", "30"), COMMAND),
                Dmtcp.launch(Duration.ofSeconds(30), COMMAND));
        assertEquals(joined(launch, List.of(), COMMAND), Dmtcp.launch(Duration.ZERO, COMMAND));
        assertEquals(joined(launch, List.of("--interval", "1"), COMMAND), Dmtcp.launch(Duration.ofMillis(200), COMMAND),
                "DMTCP counts whole seconds, and 0 is none");
    }

    private static List<String> joined(List<String> one, List<String> two, List<String> three) {
        return Stream.of(one, two, three).flatMap(List::stream).toList();
    }

    @Test
    void aRestartHasACoordinatorOfItsOwn() {
        assertEquals(
                List.of("dmtcp_restart", "--new-coordinator", "--quiet", "--port-file", "dmtcp_restart.port",
                        "--ckptdir", "dmtcp", "dmtcp/ckpt_a.dmtcp"),
                Dmtcp.restart(List.of("dmtcp/ckpt_a.dmtcp")));
        assertEquals(List.of("dmtcp_command", "--coord-port", "4711", "--kill"), Dmtcp.command(4711, "--kill"));
    }

    /** As dmtcp_command 4.2 prints it. */
    @Test
    void onlyProcessesThatRunCount() {
        List<String> running = List.of("Coordinator:", "  Host: localhost", "  Port: 46409", "Status...",
                "  NUM_PEERS=4", "  RUNNING=yes", "  CKPT_INTERVAL=0 (checkpoint manually)");
        assertEquals(4, Dmtcp.running(running));
        assertEquals(0, Dmtcp.running(running.stream().map(line -> line.replace("yes", "no")).toList()));
        assertEquals(0, Dmtcp.running(List.of("Coordinator not found. Please check port and host.")));
        assertEquals(0, Dmtcp.running(List.of()));
    }
}
