package org.udckpt.bench.run;

import java.io.IOException;
import java.util.List;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.BenchJob;
import org.udckpt.bench.job.Workplace;

/**
 * A job from its start to its end, with those checkpoints that it takes by itself.
 *
 * @param options of {@code udckpt run}
 */
record ThroughRunner(List<String> options) implements Runner {
    @Override
    public RunResult of(Workplace workplace) throws IOException, InterruptedException {
        String command = workplace.command(options);
        long start = System.nanoTime();
        try (BenchJob job = workplace.first(options)) {
            List<String> printed = job.awaitEnd();
            long ns = System.nanoTime() - start;
            return new RunResult(ns, printed, null, CheckpointRows.rows(workplace), command);
        } catch (BenchFailure failure) {
            return new RunResult(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), command);
        }
    }
}
