package org.udckpt.bench.measured;

/** A row of a run's results. Times are in nanoseconds, sizes in bytes. */
public sealed interface Row {

    /** Something about the machine or the run as a whole. */
    record Fact(String name, String value) implements Row {}

    /**
     * A run of an application.
     *
     * @param trial unique in the file
     * @param launcher who started the ranks, as {@code --launcher} says it
     * @param transport ud or rc
     * @param mode native, preloaded, "every 30s", restarted, dmtcp ...
     * @param repeat runs of one workload, launcher, transport and number of ranks with the same number are a pair
     * @param ns from before the start of its command to its end
     * @param unit of the figure by which the application rates itself; null: it has none
     * @param isRate more of the figure is better
     * @param figureMillionths the figure times 10^6
     * @param right whether it ended well with the right result
     * @param words how the result was judged, or what went wrong
     * @param known what the application is known for without any checkpointer; null: nothing
     * @param loadThousandths of the machine, for a minute, when it began, times 1000
     * @param command exactly what was run, with its environment before it
     */
    record Run(
            String trial, String workload, int ranks, String launcher, String transport, String mode, int repeat,
            long ns, String unit, boolean isRate,
            long figureMillionths, boolean right, String words, String known, long loadThousandths,
            String command) implements Row {}

    /**
     * A checkpoint of a run.
     *
     * @param bytes of memory that it holds
     * @param stored bytes of its files
     * @param stopNs how long the rank that stood still the longest did
     * @param medianStopNs of the ranks
     */
    record Checkpoint(String trial, String checkpoint, long bytes, long stored, long stopNs, long medianStopNs,
            long writeNs) implements Row {}

    /** A phase of a checkpoint: of one that each rank has for itself, the slowest. */
    record Phase(String trial, String checkpoint, String phase, long ns) implements Row {}

    /**
     * A restart of a run.
     *
     * @param ns from before the start of {@code udckpt restart} until its ranks run
     * @param bytes of memory of its image
     */
    record Restart(String trial, String checkpoint, long ns, long bytes) implements Row {}
}
