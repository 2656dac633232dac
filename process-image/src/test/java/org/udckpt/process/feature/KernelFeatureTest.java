package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.udckpt.process.restore.lazy.Support;

/**
 * Every kernel feature: checkpoint at a random moment, kill -9, restore, still right? As root (when the tests run as
 * root) and as an ordinary user. docs/contributing/testing.md says how to run one case and what the properties mean.
 */
class KernelFeatureTest {
    private static final int CASE_SECONDS = 150;
    private static final String NOBODY = "65534";
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int GENERATIONS = Integer.getInteger("udckpt.generations", 1);
    private static final List<Process> HELPERS = new ArrayList<>();
    private static final Queue<Path> DIRECTORIES = new ArrayDeque<>();

    @TestFactory
    Stream<DynamicTest> inThisProcess() throws IOException {
        Installation installation = Installation.built();
        return tests("as " + System.getProperty("user.name"),
                FeatureSuite.start(Feature.all(installation.programs()), installation,
                        directory(), SEED, GENERATIONS, Flavour.WHOLE));
    }

    /** What the kernel says of each process is the same before and after. */
    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> lineByLine() throws IOException {
        Installation installation = Installation.built();
        return tests("line by line", FeatureSuite.start(Feature.all(installation.programs()), installation, directory(),
                SEED, GENERATIONS, Flavour.COMPARED));
    }

    /** With memory that comes in while the programs run. */
    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> lazily() throws IOException {
        assumeTrue(Support.refusal() == null, () -> "no lazy restart here: " + Support.refusal());
        Installation installation = Installation.built();
        return tests("lazily", FeatureSuite.start(Feature.all(installation.programs()), installation, directory(), SEED,
                GENERATIONS, Flavour.LAZY));
    }

    @TestFactory
    Stream<DynamicTest> asAnOrdinaryUser() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"),
                "not root: the other factory has run as an ordinary user already");
        Path directory = directory();
        Installation installation = Installation.built().copyTo(directory.resolve("native"));
        Path work = Files.createDirectory(directory.resolve("cases"));
        run("chown", NOBODY + ":" + NOBODY, work.toString());
        List<Feature> features = Feature.all(installation.programs());
        Map<Feature, CompletableFuture<Void>> results = new LinkedHashMap<>();
        features.forEach(f -> results.put(f, new CompletableFuture<>()));
        Process helper =
                new ProcessBuilder(command(installation, classPath(directory), work)).redirectErrorStream(true).start();
        HELPERS.add(helper);
        Thread.ofPlatform().daemon().start(() -> collect(helper, results));
        return tests("as an ordinary user", results);
    }

    /** What a failed case left stays; everything else goes. */
    @AfterAll
    static void clean() throws IOException {
        HELPERS.forEach(Process::destroy);
        FeatureSuite.stop();
        HELPERS.forEach(KernelFeatureTest::awaitEnd);
        for (Path directory; (directory = DIRECTORIES.poll()) != null;) {
            // a failed case is run again by the same JVM, and we are called again
            Path cases = Files.isDirectory(directory.resolve("cases")) ? directory.resolve("cases") : directory;
            try (Stream<Path> left = Files.list(cases)) {
                if (left.findAny().isEmpty()) {
                    FeatureSuite.deleteTree(directory);
                } else {
                    System.out.println("kernel features: what failed is in " + cases);
                }
            }
        }
    }

    private static void awaitEnd(Process helper) {
        try {
            if (!helper.waitFor(1, TimeUnit.MINUTES)) {
                helper.destroyForcibly();
                throw new IllegalStateException("the ordinary user's JVM does not end");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Stream<DynamicTest> tests(String who, Map<Feature, CompletableFuture<Void>> results) {
        System.out
                .println("kernel features " + who + ": -Dudckpt.seed=" + SEED + " -Dudckpt.generations=" + GENERATIONS);
        return results.entrySet().stream().map(e -> DynamicTest.dynamicTest(e.getKey().name() + " " + who,
                () -> e.getValue().get(CASE_SECONDS, TimeUnit.SECONDS)));
    }

    /** In the system's temporary directory, since its path must be short: sockets are made below it. */
    private static Path directory() throws IOException {
        Path directory = Files.createTempDirectory("udckpt-f",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        DIRECTORIES.add(directory);
        return directory;
    }

    private static List<String> command(Installation installation, String classPath, Path work) {
        return List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all",
                "--bounding-set=-all",
                System.getProperty("java.home") + "/bin/java", "-Xmx512m", "--enable-native-access=ALL-UNNAMED",
                "-Dudckpt.native=" + installation.root(),
                "-Dudckpt.features=" + System.getProperty("udckpt.features", ""),
                "-Duser.home=" + work, "-cp", classPath, FeatureSuite.class.getName(), work.toString(),
                Long.toString(SEED), Integer.toString(GENERATIONS),
                Flavour.WHOLE.name());
    }

    /** Copies of the class directories: the repository itself may be closed to other users. */
    static String classPath(Path directory) throws IOException {
        List<String> copies = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (entry.contains("udckpt") || Files.isDirectory(Path.of(entry))) {
                Path copy = directory.resolve("classes" + copies.size());
                run("cp", "-rL", entry, copy.toString());
                run("chmod", "-R", "a+rX", copy.toString());
                copies.add(copy.toString());
            }
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void run(String... command) throws IOException {
        try {
            assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), String.join(" ", command));
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static void collect(Process helper, Map<Feature, CompletableFuture<Void>> results) {
        StringBuilder other = new StringBuilder();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(helper.getInputStream()))) {
            for (String line; (line = reader.readLine()) != null;) {
                String[] words = line.split(" ", 3);
                if (words.length < 3 || !words[0].equals("feature")) {
                    other.append(line).append('\n');
                    continue;
                }
                results.forEach((feature, future) -> {
                    if (feature.name().equals(words[1])) {
                        settle(future, words[2]);
                    }
                });
            }
        } catch (IOException e) {
            other.append(e);
        }
        results.values().forEach(f -> f
                .completeExceptionally(new AssertionError("the ordinary user's JVM ended without a word: " + other)));
    }

    private static void settle(CompletableFuture<Void> future, String outcome) {
        if (outcome.equals("ok")) {
            future.complete(null);
        } else {
            future.completeExceptionally(new AssertionError(outcome.replace('\u001f', '\n')));
        }
    }
}
