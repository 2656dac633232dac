package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What killed feature programs leave in the machine: named shared memory and System V objects, found by their pid. */
final class Leftovers {
    /** The upper half of the System V keys of all feature programs; the lower half is the pid's. */
    private static final int KEY = 0x7564;

    private Leftovers() {}

    static void remove(int pid) throws IOException, InterruptedException {
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-gone-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-other-" + pid));
        Files.deleteIfExists(Path.of("/dev/shm/udckpt-feature-other-" + pid + "-2"));
        removeSystemV("shm", "-m", pid);
        removeSystemV("sem", "-s", pid);
    }

    /** /proc/sysvipc/KIND: key and id are the first two columns (proc_sysvipc(5)). */
    private static void removeSystemV(String kind, String option, int pid) throws IOException, InterruptedException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/sysvipc/" + kind))) {
            for (String line : lines.skip(1).toList()) {
                String[] columns = line.strip().split("\\s+");
                if (Integer.parseInt(columns[0]) == (KEY << 16 | pid & 0xffff)) {
                    int code = new ProcessBuilder("ipcrm", option, columns[1]).inheritIO().start().waitFor();
                    if (code != 0) {
                        throw new IOException("ipcrm " + option + " " + columns[1] + " ended with " + code);
                    }
                }
            }
        }
    }
}
