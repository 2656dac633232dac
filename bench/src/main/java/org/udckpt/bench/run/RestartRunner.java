package org.udckpt.bench.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.life.Cell;
import org.udckpt.bench.life.Ended;
import org.udckpt.bench.life.Life;
import org.udckpt.bench.life.Workplace;
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
    public Outcome of(Workplace workplace) throws Ended, IOException, InterruptedException {
        Duration patience = whole.orElse(UNKNOWN).dividedBy(4L << attempt);
        String command = workplace.command(options);
        long start = System.nanoTime();
        Life life = workplace.first(options);
        try {
            life.busy(cell.ranks());
            life.goOn(patience.minusNanos(System.nanoTime() - start)); // nothing, when it took longer until it was busy
            String id = life.checkpoint();
            life.kill();
            life.close();
            life = workplace.later(2, id, options);
            long restart = life.awaitRunning();
            List<String> printed = life.awaitEnd();
            long ns = System.nanoTime() - start;
            List<Row> rows = new ArrayList<>(Checkpoints.rows(workplace));
            rows.add(Checkpoints.restart(workplace, id, restart));
            return new Outcome(ns, printed, null, rows, command + "; udckpt checkpoint; kill -9; udckpt restart");
        } catch (DemoFailure failure) {
            return new Outcome(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), command);
        } finally {
            life.close();
        }
    }
}
