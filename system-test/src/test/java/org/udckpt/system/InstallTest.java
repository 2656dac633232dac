package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code udckpt install}: what it has put below a prefix runs a job, and takes nothing from the source tree. */
@Timeout(300)
class InstallTest {
    private static final String ROOT = System.getProperty("udckpt.root");
    private static final int SECONDS = 240;

    private static Path directory;
    private static Path prefix;

    @BeforeAll
    static void install() throws Exception {
        directory = Files.createTempDirectory("udckpt-i");
        prefix = directory.resolve("prefix");
        assertEquals(0, run("install", "bash", "-c", "umask 077; exec \"$0\" install \"$1\"", ROOT + "/udckpt",
                prefix.toString()), text("install"));
        Files.copy(CommandLine.artifact("programs/ballast"), directory.resolve("ballast"));
    }

    @AfterAll
    static void clean() throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private static Process start(String name, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
                .redirectOutput(directory.resolve(name).toFile());
        builder.environment().put("UDCKPT_NO_BUILD", "1"); // Maven runs this test
        builder.environment().put("UDCKPT_RUNTIME", directory.resolve("run").toString());
        return builder.start();
    }

    private static int run(String name, String... command) throws Exception {
        Process process = start(name, command);
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            throw new AssertionError(Arrays.toString(command) + " did not end in " + SECONDS + " s\n" + text(name));
        }
        return process.exitValue();
    }

    private static String text(String name) throws IOException {
        return Files.readString(directory.resolve(name));
    }

    private static String udckpt() {
        return prefix.resolve("bin/udckpt").toString();
    }

    private static void await(String what, RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, what + " did not come");
            Thread.sleep(20);
        }
    }

    /** No file of the tree is open, mapped, or named on the command line of the agent, the shepherd and the ranks. */
    private static void assertOutsideOfTheTree(List<ProcessHandle> processes) throws IOException {
        for (ProcessHandle process : processes) {
            Path proc = Path.of("/proc", Long.toString(process.pid()));
            assertFalse(Files.readString(proc.resolve("maps")).contains(ROOT), Files.readString(proc.resolve("maps")));
            assertFalse(Files.readString(proc.resolve("cmdline")).contains(ROOT),
                    Files.readString(proc.resolve("cmdline")));
            try (Stream<Path> open = Files.list(proc.resolve("fd"))) {
                for (Path each : open.toList()) {
                    assertFalse(target(each).startsWith(ROOT), () -> process + " has " + each);
                }
            }
        }
    }

    private static String target(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (NoSuchFileException closedMeanwhile) {
            return "";
        }
    }

    @Test
    void aJobIsCheckpointedAndRestarted() throws Exception {
        Process job = start("job", udckpt(), "run", "-n", "2", "--name", "installed", "--dir", "images", "--",
                "./ballast", "2", directory.resolve("finish").toString());
        try {
            await("the job's start", () -> text("job").contains("iteration"));
            List<ProcessHandle> ranks = job.descendants()
                    .filter(process -> process.info().command().orElse("").endsWith("/ballast")).toList();
            assertEquals(2, ranks.size(), ranks.toString());
            ProcessHandle shepherd = ranks.getFirst().parent().orElseThrow();
            List<ProcessHandle> processes = Stream.concat(Stream.of(job.toHandle(), shepherd), ranks.stream()).toList();
            assertOutsideOfTheTree(processes);
            assertEquals(0, run("checkpoint", udckpt(), "checkpoint", "installed", "--then", "kill"),
                    text("checkpoint"));
            assertTrue(job.waitFor(SECONDS, TimeUnit.SECONDS), text("job"));
        } finally {
            end(job);
        }
        Files.createFile(directory.resolve("finish"));
        assertEquals(0, run("restarted", udckpt(), "restart", "images"), text("restarted"));
        assertTrue(text("restarted").contains("PASS"), text("restarted"));
        assertFalse(text("install").contains("could not be archived"), text("install"));
    }

    private static void end(Process job) throws Exception {
        List<ProcessHandle> below = job.descendants().toList();
        job.destroyForcibly().waitFor();
        below.forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void everybodyMayUseItAndNobodyElseMayChangeIt() throws Exception {
        try (Stream<Path> all = Files.walk(prefix)) {
            for (Path each : all.filter(path -> !Files.isSymbolicLink(path)).toList()) {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(each);
                assertTrue(permissions.contains(PosixFilePermission.OTHERS_READ), each + " " + permissions);
                assertTrue(!Files.isDirectory(each) || permissions.contains(PosixFilePermission.OTHERS_EXECUTE),
                        each + " " + permissions);
                assertFalse(
                        permissions.removeAll(
                                EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)),
                        each.toString());
            }
        }
    }

    @Test
    void whatIsThereAlreadyStays() throws Exception {
        assertEquals(64, run("again", ROOT + "/udckpt", "install", prefix.toString()), text("again"));
        assertEquals(64, run("spaces", ROOT + "/udckpt", "install", directory.resolve("a b").toString()),
                text("spaces"));
        assertEquals(64, run("none", ROOT + "/udckpt", "install"), text("none"));
    }

    @Test
    void verbsOfTheTreeAreNotThere() throws Exception {
        assertEquals(64, run("verb", udckpt(), "test"), text("verb"));
    }

    /** Of both kinds of module systems; only statements that both know, and the place is filled in. */
    @Test
    void theModulefileNamesThisPrefix() throws Exception {
        Path modules = prefix.resolve("share/modulefiles/udckpt");
        try (Stream<Path> versions = Files.list(modules)) {
            String text = Files.readString(versions.findFirst().orElseThrow());
            assertTrue(text.startsWith("#%Module1.0\n"), text);
            assertTrue(text.contains("prepend-path PATH " + prefix + "/bin\n"), text);
            assertFalse(text.contains("@"), text);
        }
    }

    /** By the module systems that are here: Environment Modules, Lmod. */
    @Test
    void theModuleIsLoadedAndUnloaded() throws Exception {
        int found = 0;
        for (Path init : List.of(Path.of("/usr/share/modules/init/bash"), Path.of("/usr/share/lmod/lmod/init/bash"))) {
            if (Files.exists(init)) {
                found++;
                String script = "unset MODULEPATH; . " + init + " && module use " + prefix
                        + "/share/modulefiles && module load udckpt && command -v udckpt && udckpt --version"
                        + " && module whatis udckpt && module help udckpt && module unload udckpt && ! command -v "
                        + "udckpt";
                assertEquals(0, run("module", "/bin/bash", "-c", script), text("module"));
                assertTrue(text("module").contains(prefix + "/bin/udckpt"), text("module"));
                assertTrue(text("module").contains("a batch script for Slurm: " + prefix + "/share"), text("module"));
            }
        }
        assumeTrue(found > 0, "neither environment-modules nor lmod is installed");
    }

    /** The recipe is Python; whether Spack likes it, Spack knows. */
    @Test
    void theSpackRecipeIsPython() throws Exception {
        assertEquals(0, run("spack", "/usr/bin/python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())",
                ROOT + "/share/spack/spack_repo/udckpt/packages/udckpt/package.py"), text("spack"));
    }
}
