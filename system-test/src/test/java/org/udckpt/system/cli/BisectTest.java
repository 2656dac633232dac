package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Watchpoints;

/**
 * {@code udckpt bisect} of an MPI job whose program has a planted bug (system-test/src/test/c/overrun.c): in step 2500
 * rank 1 overwrites a value. Checkpoints were taken each second, most of them hold only what changed.
 */
@Tag("slow")
@Timeout(300)
class BisectTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int STEP = 2500;
    private static final String WHEN = "field.budget != 1000";

    @TempDir
    Path directory;

    @Test
    void theStatementThatOverwritesAValue() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            runWithCheckpoints(udckpts, "-n", "2", "--", Udckpts.program("overrun"));
            String log = Files.readString(directory.resolve("log"));
            FileTime written = Files.getLastModifiedTime(directory.resolve("log"));
            Path work = Files.createDirectory(directory.resolve("work"));
            if (withoutWatchpoints(udckpts)) {
                return;
            }
            Udckpts.Result found = udckpts.run("bisect", images(), "--rank", "1", "--when", WHEN, "--json", "--work",
                    work.toString(), "--limit", "2m");
            assertEquals(0, found.code(), found.toString());
            JsonNode said = JSON.readTree(found.output());
            String report = said.path("report").asText();
            assertTrue(
                    report.matches("(?s).*Hardware watchpoint 1: field.budget != 1000.*Old value = 0.*New value = 1.*"),
                    report);
            assertTrue(
                    report.matches(
                            "(?s).*#0 +fill \\(.*#1 .* advance \\(step=.*" + STEP + ", count=.*#2 .* main \\(.*"),
                    report);
            assertTrue(report.contains("\ni = "), report);
            assertEquals(log, Files.readString(directory.resolve("log")),
                    "the job that ran again has written to its files");
            assertEquals(written, Files.getLastModifiedTime(directory.resolve("log")));
            assertEquals(0, work.toFile().list().length, "files are left in " + List.of(work.toFile().list()));
            assertEquals(List.of(), List.of(udckpts.runtime().toFile().list()));
            withoutTheNewest(udckpts, said.path("first_true").asText());
            assertNever(udckpts);
        }
    }

    /**
     * Its launcher has removed the directory of its session when the job runs again: that one is made for as long as
     * this takes.
     */
    @Test
    void openMpi() throws Exception {
        Path session = Files.createDirectory(directory.resolve("session"));
        List<Path> before = segments();
        try (Udckpts udckpts = new Udckpts(directory)) {
            runWithCheckpoints(udckpts, "--", "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2",
                    "--mca", "orte_tmpdir_base", session.toString(),
                    "--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any",
                    Udckpts.program("openmpi/overrun"));
            List<Path> left = below(session);
            if (withoutWatchpoints(udckpts)) {
                return;
            }
            Udckpts.Result found =
                    udckpts.run("bisect", images(), "--rank", "1", "--when", WHEN, "--json", "--limit", "2m");
            assertEquals(0, found.code(), found.toString());
            String report = JSON.readTree(found.output()).path("report").asText();
            assertTrue(report.matches(
                    "(?s).*Old value = 0.*New value = 1.*#0 +fill \\(.*#1 .* advance \\(step=.*" + STEP + ", count=.*"),
                    report);
            assertEquals(left, below(session));
            for (Path segment : segments()) {
                assertTrue(before.contains(segment) || isMapped(segment) || gone(segment), segment + " was left");
            }
        }
    }

    /** Where the machine reports none, that is said, and the place is found by its function. */
    private boolean withoutWatchpoints(Udckpts udckpts) throws Exception {
        if (Watchpoints.reported()) {
            return false;
        }
        Udckpts.Result refused = udckpts.run("bisect", images(), "--rank", "1", "--when", WHEN, "--batch");
        assertEquals(69, refused.code(), refused.toString());
        assertTrue(refused.errors().contains("does not report hardware watchpoints"), refused.toString());
        Udckpts.Result found = udckpts.run("bisect", images(), "--rank", "1", "--when", WHEN, "--at", "advance",
                "--json", "--limit", "2m");
        assertEquals(0, found.code(), found.toString());
        String report = JSON.readTree(found.output()).path("report").asText();
        String stopped = "(?s).*advance \\(step=(step@entry=)?" + (STEP + 1) + ", count=.*main \\(.*";
        assertTrue(report.matches(stopped), report);
        return true;
    }

    /** Shared memory of Open MPI's ranks, of all jobs. */
    private static List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(path -> path.getFileName().toString().startsWith("vader_segment")).toList();
        }
    }

    /** By a process of another job of Open MPI's, which may run at the same time. */
    private static boolean isMapped(Path file) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            for (Path maps : processes.filter(path -> path.getFileName().toString().matches("\\d+"))
                    .map(path -> path.resolve("maps")).toList()) {
                try {
                    if (Files.readString(maps).contains(file.toString())) {
                        return true;
                    }
                } catch (IOException ended) {
                    continue;
                }
            }
            return false;
        }
    }

    private static boolean gone(Path file) throws InterruptedException {
        Thread.sleep(500);
        return !Files.exists(file);
    }

    private static List<Path> below(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.sorted().toList();
        }
    }

    /** Ends when two checkpoints have the wrong value. */
    private void runWithCheckpoints(Udckpts udckpts, String... launched) throws Exception {
        List<String> words =
                new ArrayList<>(List.of("run", "--name", "overrun", "--dir", images(), "--interval", "1s"));
        words.addAll(List.of(launched));
        words.addAll(List.of(Integer.toString(STEP), directory.resolve("log").toString(),
                directory.resolve("finish").toString()));
        Udckpts.Running job = udckpts.start(words.toArray(String[]::new));
        while (!job.soFar().output().contains("step " + (STEP + 50) + "\n")) {
            assertTrue(job.isAlive(), job::text);
            Thread.sleep(20);
        }
        int now = taken();
        while (taken() < now + 3) { // one may have been under way, and another be it still
            assertTrue(job.isAlive(), job::text);
            Thread.sleep(20);
        }
        Path finish = Files.createFile(directory.resolve("finish"));
        Udckpts.Result end = job.await(60);
        Files.delete(finish);
        assertEquals(0, end.code(), end.toString());
        assertTrue(end.output().contains("budget " + STEP + ", 0 sums wrong"), end.toString());
    }

    private int taken() {
        String[] names = Path.of(images()).toFile().list((_, name) -> name.matches("ckpt-\\d+"));
        return names == null ? 0 : names.length;
    }

    /** A damaged checkpoint is named and passed over. */
    private void withoutTheNewest(Udckpts udckpts, String first) throws Exception {
        List<Path> all = new ArrayList<>();
        try (var entries = Files.list(Path.of(images()))) {
            entries.filter(path -> path.getFileName().toString().matches("ckpt-\\d+")).sorted().forEach(all::add);
        }
        try (RandomAccessFile manifest = new RandomAccessFile(all.getLast().resolve("manifest").toFile(), "rw")) {
            manifest.seek(manifest.length() / 2);
            int value = manifest.read();
            manifest.seek(manifest.length() / 2);
            manifest.write(value ^ 1);
        }
        Udckpts.Result result = udckpts.run("bisect", images(), "--rank", "1", "--when", WHEN, "--search-only");
        assertEquals(0, result.code(), result.toString());
        assertEquals(first + "\n", result.output(), result.toString());
        assertTrue(result.errors().contains(all.getLast().getFileName() + " is skipped: "), result.toString());
    }

    private void assertNever(Udckpts udckpts) throws Exception {
        Udckpts.Result never = udckpts.run("bisect", images(), "--rank", "0", "--when", WHEN, "--batch");
        assertEquals(66, never.code(), never.toString());
        assertTrue(never.errors().contains("is not true in ckpt-"), never.toString());
        Udckpts.Result always =
                udckpts.run("bisect", images(), "--rank", "0", "--when", "ranks == 2", "--frame", "main", "--batch");
        assertEquals(66, always.code(), always.toString());
        assertTrue(always.errors().contains("is true already in ckpt-0001, the oldest checkpoint"), always.toString());
        Udckpts.Result alone = udckpts.run("bisect", images(), "--rank", "0", "--when", "1", "--limit", "3s");
        assertEquals(64, alone.code(), alone.toString());
    }

    private String images() {
        return directory.resolve("images").toString();
    }
}
