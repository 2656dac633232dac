package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the agent of a restart has until the job's first instruction comes from its archive of classes: none is written
 * on the way (a class for a switch, a record or a comparator takes a young JVM milliseconds), and hardly one is read
 * from a jar.
 */
@Timeout(240)
class RestartClassesTest {
    private static final int RANKS = 2, SECONDS = 120;
    private static final Pattern LINE = Pattern.compile("\\[([^]]+)] (\\S+) source: (.*)");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSZ");
    private static final String ARCHIVED = "shared objects file";
    /** JDK's own that no archive of JDK 25 holds. */
    private static final Pattern OF_THE_JDK = Pattern.compile(
            "jdk\\.internal\\.event\\..*|java\\.lang\\.invoke\\.LambdaForm.*|jdk\\.internal\\.foreign\\.Utils\\$.*");
    /** On code paths that the training has not taken. */
    private static final int FEW = 8;

    private final Path directory;
    private final CommandLine commands;

    RestartClassesTest() throws Exception {
        directory = Files.createTempDirectory("udckpt-rc");
        commands = new CommandLine(directory);
    }

    @AfterEach
    void clean() throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private void await(String name, Process agent) throws Exception {
        long begin = System.nanoTime();
        while (times(name).size() < RANKS) {
            assertTrue(agent.isAlive() && System.nanoTime() - begin < SECONDS * 1_000_000_000L,
                    () -> name + " did not come: " + said());
            Thread.sleep(20);
        }
    }

    private List<Long> times(String name) throws Exception {
        try (Stream<Path> files = Files.list(directory)) {
            List<Long> times = new ArrayList<>();
            for (Path file : files.filter(file -> file.getFileName().toString().matches(name + "\\.\\d+")).toList()) {
                String text = Files.readString(file).strip();
                times.add(text.isEmpty() ? 0 : Long.parseLong(text.split(" ")[0]));
            }
            return times;
        }
    }

    private String said() {
        try {
            return commands.printed("first") + commands.printed("second");
        } catch (Exception e) {
            return e.toString();
        }
    }

    @Test
    void noClassIsGeneratedBeforeTheFirstInstruction() throws Exception {
        Path program = CommandLine.artifact("programs/restart_clock");
        assumeTrue(Files.exists(program), "no MPI here");
        assertTrue(Files.exists(Path.of(System.getProperty("udckpt.root"), "target/restart.aot")),
                "the build has left no archive: target/archive.log says why");
        String images = directory.resolve("images").toString();
        Process first = commands.start("first", "run", "-n", Integer.toString(RANKS), "--name", "classes", "--dir",
                images, "--", program.toString(), "8", directory.toString());
        await("ready", first);
        assertEquals(0, commands.run("checkpoint", SECONDS, "checkpoint", "classes", "--then=kill"), this::said);
        assertTrue(first.waitFor(SECONDS, TimeUnit.SECONDS), this::said);
        Path log = directory.resolve("loaded");
        Process second = commands.start("second",
                Map.of("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=" + log + ":time"), "restart", images);
        try {
            await("resumed", second);
            long instruction = times("resumed").stream().mapToLong(Long::longValue).min().orElseThrow();
            Files.createFile(directory.resolve("finish"));
            assertTrue(second.waitFor(SECONDS, TimeUnit.SECONDS), this::said);
            check(Files.readAllLines(log), Instant.ofEpochSecond(0, instruction));
        } finally {
            second.destroyForcibly();
        }
    }

    private static void check(List<String> lines, Instant instruction) {
        List<String> written = new ArrayList<>(), read = new ArrayList<>();
        int archived = 0;
        for (String line : lines) {
            Matcher matcher = LINE.matcher(line);
            if (!matcher.matches() || !OffsetDateTime.parse(matcher.group(1), TIME).toInstant().isBefore(instruction)
                    || OF_THE_JDK.matcher(matcher.group(2)).matches()) {
                continue;
            }
            if (matcher.group(3).startsWith(ARCHIVED)) {
                archived++;
            } else if (matcher.group(2).contains("$$TypeSwitch")
                    || matcher.group(2).startsWith("java.util.Comparator")) {
                written.add(matcher.group(2));
            } else {
                read.add(matcher.group(2));
            }
        }
        assertTrue(archived > 1000, archived + " classes are from the archive");
        assertEquals(List.of(), written);
        assertTrue(read.size() <= FEW, () -> read.size() + " classes are not in the archive: " + read);
    }
}
