package org.udckpt.bench.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.job.Workplace;

/** A command without udckpt. @param limit after which it counts as hanging */
record BareRunner(List<String> words, Duration limit) implements Runner {
    @Override
    public RunResult of(Workplace workplace) throws IOException, InterruptedException {
        String text = workplace.bareCommand(words);
        long start = System.nanoTime();
        try (Command command = workplace.bare(words)) {
            List<String> printed = new ArrayList<>(command.awaitSuccess(limit));
            long ns = System.nanoTime() - start;
            printed.addAll(command.errors().allLines());
            return new RunResult(ns, printed, null, List.of(), text);
        } catch (BenchFailure failure) {
            return new RunResult(System.nanoTime() - start, List.of(), failure.getMessage(), List.of(), text);
        }
    }
}
