package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.udckpt.process.restore.lazy.Support;

/**
 * {@code ./udckpt test cycles}: feature programs are killed and restored at random moments, so many times in all, some
 * in chains. They are taken in a random order, each once before any is taken again.
 */
@Timeout(7200) // as many as are asked for, on a machine however busy
@EnabledIfSystemProperty(named = "udckpt.cycles", matches = "[1-9]\\d*",
        disabledReason = "./udckpt test cycles runs it")
class CyclesTest {
    private static final int AT_ONCE = 3;
    private static final int LONGEST_CHAIN = 4;
    private static final int ENOUGH = 20; // failures, to know that it is broken
    private static final int COUNT = Integer.getInteger("udckpt.cycles", 0);
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);

    private record Chosen(int number, Feature feature, Flavour flavour, int generations, long seed) {
        @Override
        public String toString() {
            return "case " + number + ": " + feature.name() + ", " + flavour
                    + "; alone: KernelFeatureTest -Dudckpt.features=" + feature.name() + " -Dudckpt.seed=" + seed
                    + " -Dudckpt.generations=" + generations;
        }
    }

    private record Running(Chosen chosen, Future<Integer> cycles) {}

    @Test
    void randomKillsAndRestores() throws Exception {
        System.out.println("cycles: -Dudckpt.seed=" + SEED + " -Dudckpt.cycles=" + COUNT);
        Installation installation = Installation.built();
        List<Feature> features = Feature.all(installation.programs()).stream().filter(Feature::mayRestore).toList();
        List<Flavour> flavours =
                Support.refusal() == null ? List.of(Flavour.values()) : List.of(Flavour.WHOLE, Flavour.COMPARED);
        Path directory = Files.createTempDirectory("udckpt-c", // programs become other users
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Random random = new Random(SEED);
        List<String> failures = new ArrayList<>();
        List<Running> running = new ArrayList<>();
        List<Feature> left = new ArrayList<>();
        int number = 0;
        int done = 0;
        ExecutorService pool =
                Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().daemon().name("cycles-", 0).factory());
        try {
            while (done < COUNT && failures.size() < ENOUGH || !running.isEmpty()) {
                while (done < COUNT && failures.size() < ENOUGH && running.size() < AT_ONCE) {
                    if (left.isEmpty()) {
                        left.addAll(features);
                        Collections.shuffle(left, random);
                    }
                    Chosen chosen =
                            new Chosen(++number, left.removeLast(), flavours.get(random.nextInt(flavours.size())),
                                    1 + random.nextInt(LONGEST_CHAIN), random.nextInt(1 << 24));
                    Path own = Files.createDirectory(directory.resolve("c" + number));
                    running.add(new Running(chosen, pool.submit(() -> run(chosen, installation, own))));
                }
                Running first = running.removeFirst();
                try {
                    done += first.cycles.get();
                    System.out.println("cycles: " + done + " of " + COUNT + ", " + first.chosen.feature.name());
                } catch (ExecutionException e) {
                    failures.add(first.chosen + ": " + e.getCause());
                    System.out.println("cycles: FAILED " + failures.getLast());
                }
            }
        } finally {
            pool.shutdownNow();
            pool.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES);
        }
        assertEquals(List.of(), failures, () -> "seed " + SEED + "; what they left is in " + directory);
        Files.delete(directory);
    }

    private static int run(Chosen chosen, Installation installation, Path own) throws Exception {
        int cycles =
                new FeatureCase(chosen.feature, installation, own, chosen.seed, chosen.flavour).run(chosen.generations);
        FeatureSuite.deleteTree(own);
        return cycles;
    }
}
