package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.process.restore.RestoreException;

/**
 * The program mapped_code with its files in a directory of the test's choice, checkpointed once, and restored as often
 * as one likes.
 */
final class MappedCode implements AutoCloseable {
    private static final int SECONDS = 25;

    private final Installation installation = Installation.built();
    private final Path scratch;
    private final SavedJob saved;
    private int restarts;

    /** @param scratch the test's own directory. @param files where the program makes and maps its files */
    MappedCode(Path scratch, Path files) throws Exception {
        this.scratch = scratch;
        Path work = Files.createDirectory(scratch.resolve("work"));
        try (ShepherdProcess shepherd =
                new ShepherdProcess(installation.shepherd(), scratch.resolve("s"), scratch.resolve("output"))) {
            int pid = shepherd.spawn(scratch.resolve("spec"), work,
                    List.of(installation.program("mapped_code").toString(), work.toString(), files.toString()),
                    installation.environment());
            for (int round = 0; !Files.exists(work.resolve("ready")); round++) {
                if (shepherd.exited(pid) || round > SECONDS * 100) {
                    throw new AssertionError("not ready: " + shepherd.printed());
                }
                Thread.sleep(10);
            }
            saved = SavedJob.capture(pid, shepherd);
        }
    }

    SavedJob saved() {
        return saved;
    }

    /**
     * Its verdict after a restore.
     *
     * @throws RestoreException it was refused
     */
    String verdict() throws Exception {
        Path work = scratch.resolve("work");
        Files.deleteIfExists(work.resolve("finish"));
        Files.deleteIfExists(work.resolve("result"));
        try (ShepherdProcess shepherd = saved.newShepherd(installation.shepherd(), scratch.resolve("s" + ++restarts),
                scratch.resolve("output"))) {
            int pid = saved.restore(shepherd);
            Files.createFile(work.resolve("finish"));
            shepherd.awaitExit(pid, SECONDS);
            return Files.readString(work.resolve("result")).strip();
        }
    }

    @Override
    public void close() throws IOException {
        saved.close();
    }
}
