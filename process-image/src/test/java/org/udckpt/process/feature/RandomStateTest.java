package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.process.restore.Restored;
import org.udckpt.process.restore.lazy.Support;

/**
 * Two restarts of one image draw different random numbers where the kernel or the program can know that there are two
 * of it (docs/internals/attributes.md).
 */
@Timeout(120)
class RandomStateTest {
    private static final int SECONDS = 30;
    private static final Set<String> BEGINS_ANEW = Set.of("vdso", "call");

    @TempDir
    Path directory;

    @Test
    void twoRestartsOfOneImageDiffer() throws Exception {
        differ(false);
    }

    @Test
    void soDoTwoLazyOnes() throws Exception {
        assumeTrue(Support.refusal() == null, () -> "no lazy restart here: " + Support.refusal());
        differ(true);
    }

    private void differ(boolean lazily) throws Exception {
        Installation installation = Installation.built();
        Path work = Files.createDirectory(directory.resolve("work"));
        int first = 0;
        try (ShepherdProcess shepherd =
                new ShepherdProcess(installation.shepherd(), directory.resolve("s"), directory.resolve("output"))) {
            first = shepherd.spawn(directory.resolve("spec"), work,
                    List.of(installation.program("random_state").toString(), work.toString()),
                    installation.environment());
            for (int round = 0; !Files.exists(work.resolve("ready")); round++) {
                assertTrue(round < 100 * SECONDS, () -> "not ready: " + shepherd.printed());
                Thread.sleep(10);
            }
            try (SavedJob saved = SavedJob.capture(first, shepherd)) {
                shepherd.close();
                List<String> one = restart(saved, installation, work, "s1", lazily);
                List<String> other = restart(saved, installation, work, "s2", lazily);
                compare(one, other);
            }
        } finally {
            Leftovers.removeSharedMemory(first);
        }
    }

    /** What the generators drew after a restart. */
    private List<String> restart(SavedJob saved, Installation installation, Path work, String socket, boolean lazily)
            throws Exception {
        try (ShepherdProcess shepherd =
                saved.newShepherd(installation.shepherd(), directory.resolve(socket), directory.resolve("output"))) {
            int pid;
            if (lazily) {
                Restored restored = saved.restore(shepherd, true, hostPids -> {});
                pid = saved.first(restored);
                restored.filling().filled().get(SECONDS, java.util.concurrent.TimeUnit.SECONDS);
                restored.filling().close();
            } else {
                pid = saved.restore(shepherd);
            }
            Files.createFile(work.resolve("finish"));
            assertEquals(0, shepherd.awaitExit(pid, SECONDS), shepherd::printed);
            List<String> lines = Files.readAllLines(work.resolve("numbers"));
            for (String left : List.of("finish", "result", "numbers")) {
                Files.delete(work.resolve(left));
            }
            return lines;
        }
    }

    private static void compare(List<String> one, List<String> other) {
        assertEquals(one.size(), other.size());
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < one.size(); i++) {
            String[] numbers = one.get(i).split(" ");
            String[] others = other.get(i).split(" ");
            assertEquals(numbers[0], others[0]);
            if (BEGINS_ANEW.contains(numbers[0])) {
                for (int k = 1; k < numbers.length; k++) {
                    assertTrue(seen.add(numbers[k]) && seen.add(others[k]),
                            numbers[0] + ": a number came twice: " + numbers[k] + ", " + others[k]);
                }
            } else {
                assertEquals(one.get(i), other.get(i),
                        "a generator in ordinary memory cannot know (docs/user/restart.md, random numbers)");
            }
        }
    }
}
