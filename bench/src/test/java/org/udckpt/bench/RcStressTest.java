package org.udckpt.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.bench.command.JobStatus;

/**
 * MPI over reliable connections under the real command: checkpoints, kills, restarts; every value is checked by the
 * program.
 */
@Tag("slow")
class RcStressTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime());

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    /** On the fused path, and on the generic one, as over a device that gives memory other keys in each incarnation. */
    @ParameterizedTest
    @CsvSource({"fused,1", "generic,0"})
    @Timeout(value = 480, unit = TimeUnit.SECONDS)
    void checkpointsKillsAndRestarts(String dataPath, String loss) throws Exception {
        Map<String, String> environment = new HashMap<>(Map.of("UCX_TLS", "rc_v,self", "UDCKPT_DATA_PATH", dataPath,
                "UDCKPT_SOFT_SEED", Long.toString(SEED & 0x7fffffff)));
        if (!loss.equals("0"))
            environment.put("UDCKPT_SOFT_LOSS", loss);
        try (var stress = new Stress(directory, "rc-stress", SEED, environment)) {
            stress.start();
            stress.goOn(1);
            stress.checkpoint();
            var before = virtualAddresses(stress.status());
            stress.goOn(2);
            stress.killAndRestart(stress.checkpoint());
            stress.goOn(2);
            assertEquals(before, virtualAddresses(stress.status()), "what the job sees stays");
            stress.finish();
        }
    }

    /** Of each rank; the ranks have one queue pair for each peer that they have met. */
    private static Map<Integer, ?> virtualAddresses(JobStatus status) {
        return status.ranks().stream().collect(Collectors.toMap(rank -> rank.rank(),
                rank -> rank.endpoints().stream().map(endpoint -> endpoint.virtual()).collect(Collectors.toSet())));
    }
}
