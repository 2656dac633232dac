package org.udckpt.process.feature;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** All cases of one user, a few at a time: they mostly sleep. */
final class FeatureSuite {
    private static final int AT_ONCE = 5;
    private static final Queue<ExecutorService> POOLS = new ConcurrentLinkedQueue<>();

    private FeatureSuite() {}

    /** Starts the cases; each future ends normally or with what went wrong. {@code directory} keeps what failed. */
    static Map<Feature, CompletableFuture<Void>> start(List<Feature> features, Installation installation,
            Path directory, long seed,
            int generations, Flavour flavour) {
        ExecutorService pool =
                Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().daemon().name("feature-", 0).factory());
        Map<Feature, CompletableFuture<Void>> results = new LinkedHashMap<>();
        for (Feature feature : features) {
            results.put(feature, CompletableFuture
                    .runAsync(() -> one(feature, installation, directory, seed, generations, flavour), pool));
        }
        pool.shutdown();
        POOLS.add(pool);
        return results;
    }

    /**
     * Ends the cases whose outcome nobody has waited for, as when one failed case is run again, with their processes.
     */
    static void stop() {
        for (ExecutorService pool; (pool = POOLS.poll()) != null;) {
            pool.shutdownNow();
            try {
                if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("a feature case does not end");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void one(Feature feature, Installation installation, Path directory, long seed, int generations,
            Flavour flavour) {
        try {
            Path own = Files.createDirectory(directory.resolve(feature.name()));
            runIn(own, feature, installation, seed, generations, flavour);
            deleteTree(own);
        } catch (Exception e) {
            throw new IllegalStateException(feature.name() + ": " + e, e);
        }
    }

    /** Runs a feature in its own directory, which is removed if the run was cancelled. */
    private static void runIn(Path own, Feature feature, Installation installation, long seed, int generations,
            Flavour flavour) throws Exception {
        try {
            new FeatureCase(feature, installation, own, seed, flavour).run(generations);
        } catch (InterruptedException stopped) {
            deleteTree(own);
            throw stopped;
        }
    }

    static void deleteTree(Path directory) throws java.io.IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /**
     * The same in a JVM of its own, which may be another user's: DIRECTORY SEED GENERATIONS FLAVOUR; prints a line per
     * case: {@code feature NAME ok} or {@code feature NAME TEXT}.
     */
    public static void main(String[] arguments) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(FeatureSuite::stop));
        Installation installation = Installation.built();
        Map<Feature,
                CompletableFuture<Void>> results = start(Feature.all(installation.programs()), installation,
                        Path.of(arguments[0]),
                        Long.parseLong(arguments[1]), Integer.parseInt(arguments[2]), Flavour.valueOf(arguments[3]));
        BiConsumer<Feature, Throwable> print = (feature, error) -> System.out.println("feature " + feature.name() + " "
                + (error == null ? "ok" : describe(error)));
        CompletableFuture.allOf(results.entrySet().stream()
                .map(e -> e.getValue().whenComplete((nothing, error) -> print.accept(e.getKey(), error)))
                .toArray(CompletableFuture[]::new)).exceptionally(e -> null).get();
    }

    private static String describe(Throwable error) {
        java.io.StringWriter text = new java.io.StringWriter();
        error.printStackTrace(new java.io.PrintWriter(text));
        return text.toString().replace('\n', '\u001f');
    }
}
