package org.udckpt.bench.run;

import java.io.IOException;
import java.util.List;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.life.Life;
import org.udckpt.bench.life.Workplace;

/** A job from its start to its end, with those checkpoints that it takes by itself. @param options of {@code udckpt run} */
record ThroughRunner(List<String> options) implements Runner {
    @Override
    public Outcome of(Workplace workplace) throws IOException, InterruptedException {
        String command = workplace.command(options);
        long start = System.nanoTime();
        try (Life life = workplace.first(options)) {
            List<String> printed = life.awaitEnd();
            long ns = System.nanoTime() - start;
            return new Outcome(ns, printed, null, Checkpoints.rows(workplace), command);
        } catch (DemoFailure failure) {
            return new Outcome(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), command);
        }
    }
}
