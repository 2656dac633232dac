package org.udckpt.bench.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Runs the benchmarks of this package with JMH, each in a JVM of its own. */
final class JavaScores {
    private JavaScores() {}

    /** @param quick one short JVM each: that they run, more than how fast */
    static List<Score> measure(boolean quick) {
        ChainedOptionsBuilder options = new OptionsBuilder().include("org\\.udckpt\\.bench\\.micro\\..*Benchmark")
                .shouldFailOnError(true).resultFormat(ResultFormatType.TEXT)
                .result("/dev/null").forks(quick ? 1 : 3).warmupIterations(quick ? 1 : 3)
                .measurementIterations(quick ? 2 : 5)
                .warmupTime(time(quick)).measurementTime(time(quick));
        List<Score> scores = new ArrayList<>();
        try {
            for (RunResult result : new Runner(options.build()).run()) {
                String name = result.getParams().getBenchmark().replaceFirst(".*\\.(\\w+)\\.", "$1.");
                double error = result.getPrimaryResult().getScoreError();
                scores.add(new Score(name, result.getPrimaryResult().getScore(), Double.isNaN(error) ? 0 : error,
                        result.getPrimaryResult().getScoreUnit()));
            }
        } catch (RunnerException e) {
            throw new Failure(ExitCode.INTERNAL, "JMH: " + e.getMessage(), e);
        }
        return scores;
    }

    private static TimeValue time(boolean quick) {
        return new TimeValue(quick ? 200 : 1000, TimeUnit.MILLISECONDS);
    }
}
