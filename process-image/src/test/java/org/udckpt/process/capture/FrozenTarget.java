package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import org.udckpt.linux.ProcessMemory;

/** The capture of a program that continues. */
final class FrozenTarget implements AutoCloseable {
    final Target target;
    final Capture capture;
    final Snapshot snapshot;
    final long pages;
    final long ticks;

    FrozenTarget(Target target) throws Exception {
        this.target = target;
        String[] words = Files.readString(target.directory.resolve("ready")).split(" ");
        pages = Long.parseUnsignedLong(words[0].substring(2), 16);
        ticks = Long.parseUnsignedLong(words[1].substring(2), 16);
        capture = Capture.take(target.request());
        snapshot = (Snapshot) capture.sources().getFirst();
    }

    /** The program has done something since. */
    void assertGoesOn() throws Exception {
        try (ProcessMemory memory = new ProcessMemory(target.pid)) {
            long before = memory.readLong(ticks);
            for (int round = 0; round < 5000 && memory.readLong(ticks) == before; round++) {
                Thread.sleep(2);
            }
            assertTrue(memory.readLong(ticks) > before, "it stands still");
        }
    }

    @Override
    public void close() {
        capture.close();
    }
}
