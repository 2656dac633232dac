package org.udckpt.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.bench.command.JobStatus;
import org.udckpt.bench.command.JobStatus.Address;

/**
 * The main job under the real command: messages, collectives and one-sided operations whose every value
 * is checked, across checkpoints, kills and restarts. {@code -Dudckpt.seed=N} repeats a run's moments.
 */
@Tag("slow")
class MpiStressTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime());

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    @Test
    @Timeout(value = 480, unit = TimeUnit.SECONDS)
    void twentyCheckpointsWhileTheJobGoesOn() throws Exception {
        try (var stress = new Stress(directory, "stress-checkpoints", SEED, Map.of())) {
            stress.start();
            Set<String> ids = new HashSet<>();
            for (int i = 0; i < 20; i++) {
                stress.goOn(1);
                ids.add(stress.checkpoint());
            }
            stress.goOn(1);
            stress.finish();
            assertEquals(20, ids.size(), () -> "each checkpoint has an id of its own: " + ids);
        }
    }

    @Test
    @Timeout(value = 600, unit = TimeUnit.SECONDS)
    void tenKillsAndRestartsInAChain() throws Exception {
        try (var stress = new Stress(directory, "stress-restarts", SEED, Map.of())) {
            stress.start();
            stress.goOn(1);
            Set<Address> before = realAddresses(stress.status());
            for (int i = 0; i < 10; i++) {
                stress.goOn(1);
                String id = stress.checkpoint();
                stress.goOn(i % 2); // every other time, work is lost that has to be done again
                stress.killAndRestart(id);
                stress.goOn(1);
                Set<Address> after = realAddresses(stress.status());
                assertFalse(after.isEmpty(), "a restarted job has queue pairs");
                before.retainAll(after);
                assertTrue(before.isEmpty(), "restart " + i + " kept real addresses: " + before);
                before = after;
            }
            stress.finish();
        }
    }

    @Test
    @Timeout(value = 480, unit = TimeUnit.SECONDS)
    void twoPerCentOfTheDatagramsAreLost() throws Exception {
        Map<String, String> loss =
                Map.of("UDCKPT_SOFT_LOSS", "2", "UDCKPT_SOFT_SEED", Long.toString(SEED & 0x7fffffff));
        try (var stress = new Stress(directory, "stress-loss", SEED, loss)) {
            stress.start();
            for (int i = 0; i < 5; i++) {
                stress.goOn(1);
                stress.checkpoint();
            }
            for (int i = 0; i < 2; i++) {
                stress.goOn(1);
                stress.killAndRestart(stress.checkpoint());
            }
            stress.goOn(1);
            stress.finish();
        }
    }

    private static Set<Address> realAddresses(JobStatus status) {
        Set<Address> real = new HashSet<>();
        status.ranks().forEach(rank -> rank.endpoints().forEach(endpoint -> real.add(endpoint.real())));
        return real;
    }
}
