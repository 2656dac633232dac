package org.udckpt.bench.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.udckpt.support.report.Messages;

/**
 * A directory with a short path for what is not kept: it goes when this program ends, and before it the jobs that the
 * program has started.
 */
public final class ScratchDirectory {
    private static volatile boolean ending;

    private ScratchDirectory() {}

    public static Path create(String name) throws IOException {
        Path scratch = Files.createTempDirectory(name);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(scratch), "end"));
        return scratch;
    }

    /** Whether this program is being ended: then a job that fails was ended with it, and says nothing. */
    public static boolean isEnding() {
        return ending;
    }

    /** Whoever ends this program ends the jobs that it runs: udckpt passes the signal on. */
    private static void end(Path scratch) {
        ending = true;
        List<ProcessHandle> children = ProcessHandle.current().children().toList();
        children.forEach(ProcessHandle::destroy);
        children.forEach(child -> child.onExit().completeOnTimeout(child, 10, TimeUnit.SECONDS).join());
        try {
            Trees.remove(scratch);
        } catch (IOException e) {
            Messages.warn(scratch + " could not be removed: " + e);
        }
    }
}
