package org.udckpt.bench.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.BenchJob;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Workplace;
import org.udckpt.bench.measured.Row;

/**
 * A checkpoint after a quarter of its time, {@code kill -9} of everything, and a restart that goes on to the end.
 *
 * @param options of {@code udckpt run} and {@code restart}
 * @param whole how long the job runs without that; empty: not known
 * @param attempt each one halves the time before the checkpoint
 */
record RestartRunner(Cell cell, List<String> options, Optional<Duration> whole, int attempt) implements Runner {
    static final Duration UNKNOWN = Duration.ofSeconds(6);

    @Override
    public RunResult of(Workplace workplace) throws EndedTooEarly, IOException, InterruptedException {
        Duration delay = whole.orElse(UNKNOWN).dividedBy(4L << attempt);
        String command = workplace.command(options);
        long start = System.nanoTime();
        BenchJob job = workplace.first(options);
        try {
            job.busy(cell.ranks());
            job.goOn(delay.minusNanos(System.nanoTime() - start)); // nothing, when it took longer until it was busy
            String id = job.checkpoint();
            job.kill();
            job.close();
            job = workplace.later(2, id, options);
            long restart = job.awaitRunning();
            List<String> printed = job.awaitEnd();
            long ns = System.nanoTime() - start;
            List<Row> rows = new ArrayList<>(CheckpointRows.rows(workplace));
            rows.add(CheckpointRows.restart(workplace, id, restart));
            return new RunResult(ns, printed, null, rows, command + "; udckpt checkpoint; kill -9; udckpt restart");
        } catch (BenchFailure failure) {
            return new RunResult(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), command);
        } finally {
            job.close();
        }
    }
}
