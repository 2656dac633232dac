package org.udckpt.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DmtcpTest {
    private static final List<String> COMMAND = List.of("mpiexec.hydra", "-n", "2", "lmp");

    @Test
    void aCheckpointEachSoManySeconds() {
        assertEquals(List.of("dmtcp_launch", "--new-coordinator", "--quiet", "--interval", "30", "mpiexec.hydra", "-n", "2", "lmp"), Dmtcp.launch(Duration.ofSeconds(30), COMMAND));
        assertEquals(List.of("dmtcp_launch", "--new-coordinator", "--quiet", "mpiexec.hydra", "-n", "2", "lmp"), Dmtcp.launch(Duration.ZERO, COMMAND));
        assertEquals("1", Dmtcp.launch(Duration.ofMillis(200), COMMAND).get(4), "DMTCP counts whole seconds, and 0 is none");
    }
}
