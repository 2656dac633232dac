package org.udckpt.bench.job;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Where runs take place.
 *
 * @param root of the repository
 * @param results where verdicts and undisturbed runs are kept
 * @param scratch for what has to have a short path and is not kept
 * @param limit after which a run counts as hanging
 */
public record BenchPaths(Path root, Path results, Path scratch, Duration limit) {

    /** The jobs' runtime directories. */
    public Path runtime() {
        return scratch.resolve("run");
    }

    /** The session directories of launchers, which one that is killed leaves. */
    public Path session() {
        return scratch.resolve("session");
    }
}
