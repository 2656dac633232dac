package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code udckpt export-core}: gdb says of the core file what it says of the job itself, and what the program is known
 * to hold.
 */
@Timeout(240)
class ExportCoreTest {
    /** So much of the command line is in a core (pr_psargs of elf(5)'s notes, with its end). */
    private static final int PSARGS = 79;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STACKS = "thread apply all bt";
    /** gdb numbers threads in the order in which they were made. */
    private static final String READER = "thread 2", SPINNER = "thread 3";

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void gdbSeesTheProgram() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String program = Udckpts.program("anatomy");
            Udckpts.Running job =
                    udckpts.start("run", "--name", "anatomy", "--dir", images(), "--", program, finish().toString());
            job.awaitOutput("ready");
            long pid = JSON.readTree(udckpts.run("status", "anatomy", "--json").output()).at("/jobs/0/ranks/0/pid")
                    .asLong();
            Gdb attached = Gdb.attached(udckpts, pid, STACKS);
            assertEquals("ckpt-0001\n", udckpts.run("checkpoint", "anatomy").output(), job::text);
            Path core = export(udckpts, 3);
            Gdb dead = Gdb.core(udckpts, program, core, STACKS);
            assertEquals(functions(attached, pid), functions(dead, pid));
            assertEquals(registers(Gdb.attached(udckpts, pid, READER, "bt", "info registers")),
                    registers(Gdb.core(udckpts, program, core, READER, "bt", "info registers")),
                    "of a thread in a system call");
            assertMemory(udckpts, program, core);
            assertVectors(udckpts, program, core);
            assertWideVectors(udckpts, program, core);
            Files.createFile(finish());
            assertEquals(0, job.await(30).code(), job::text);
        }
    }

    /** Of a child that works in its parent's memory (clone(2), CLONE_VM), and of which the image has none. */
    @Tag("slow")
    @Test
    void ofAProcessInTheMemoryOfAnother() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String program = Udckpts.nativeFile("features/one_memory").toString();
            Path scratch = Files.createDirectory(directory.resolve("scratch"));
            Udckpts.Running job =
                    udckpts.start("run", "--name", "one", "--dir", images(), "--", program, scratch.toString());
            job.awaitOutput("ready");
            assertEquals("ckpt-0001\n", udckpts.run("checkpoint", "one").output(), job::text);
            String first = udckpts.run("inspect", images(), "--rank", "0").output();
            Matcher child = Pattern.compile("process (\\d+) .*\\R.* in the memory of process (\\d+)").matcher(first);
            assertTrue(child.find(), first);
            Path core = directory.resolve("child.core");
            Udckpts.Result result =
                    udckpts.run("export-core", images(), "--pid", child.group(1), "--output", core.toString());
            assertEquals(0, result.code(), result.toString());
            Gdb gdb = Gdb.core(udckpts, program, core, "print feature_pid", "bt");
            assertEquals(child.group(2), gdb.value(1));
            assertTrue(gdb.output().contains("serve"), gdb::output);
            Files.createFile(scratch.resolve("finish"));
            assertEquals(0, job.await(30).code(), job::text);
        }
    }

    private Path export(Udckpts udckpts, int threads) throws Exception {
        Path core = directory.resolve("rank.core");
        Udckpts.Result result =
                udckpts.run("export-core", images(), "--rank", "0", "--output", core.toString(), "--json");
        assertEquals(0, result.code(), result.toString());
        JsonNode said = JSON.readTree(result.output());
        assertEquals(threads, said.path("threads").asInt(), result.output());
        assertEquals(Files.size(core), said.path("bytes").asLong());
        assertTrue(said.path("problems").isEmpty(), result.output());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(core)));
        return core;
    }

    /** The main thread sleeps again and again, the spinner is anywhere in its loop. */
    private static Map<Long, List<String>> functions(Gdb gdb, long pid) {
        Map<Long, List<String>> stacks = gdb.stacks();
        List<String> main = stacks.remove(pid);
        assertTrue(main != null && main.contains("main"), gdb::output);
        assertEquals(2, stacks.size(), gdb::output);
        return stacks;
    }

    private static Map<String, String> registers(Gdb gdb) {
        Map<String, String> registers = gdb.registers();
        assertTrue(gdb.output().contains("innermost") && registers.containsKey("rip"), gdb::output);
        // gdb 13 takes them from a wrong place where it is attached on AMD's processors
        registers.keySet().removeIf(name -> name.matches("k[0-7]"));
        return registers;
    }

    private static void assertMemory(Udckpts udckpts, String program, Path core) throws Exception {
        Gdb gdb = Gdb.core(udckpts, program, core, "print/x changed_global", "print constants", "print heap",
                "print shared + 4096", "print zeros[2 << 20]",
                "print zeros[1 << 20]", "print own", "print $_siginfo.si_signo", READER, "print own", SPINNER,
                "print own");
        assertEquals("0x1122334455667788", gdb.value(1));
        assertEquals("{11, 22, 33}", gdb.value(2), "a page that only the program's file has");
        assertTrue(gdb.value(3).endsWith("\"text on the heap\""), gdb::output);
        assertTrue(gdb.value(4).endsWith("\"text in shared memory\""), gdb::output);
        assertEquals("122 'z'", gdb.value(5));
        assertEquals("0 '\\000'", gdb.value(6));
        assertEquals("5", gdb.value(7), "the main thread's own");
        assertEquals("0", gdb.value(8));
        assertEquals("101", gdb.value(9));
        assertEquals("102", gdb.value(10));
        assertTrue(
                gdb.output()
                        .contains("Core was generated by `" + program.substring(0, Math.min(program.length(), PSARGS))),
                gdb::output);
        assertFalse(gdb.output().toLowerCase(java.util.Locale.ROOT).contains("warning"), gdb::output);
    }

    private static void assertVectors(Udckpts udckpts, String program, Path core) throws Exception {
        String[] commands = new String[17];
        commands[0] = SPINNER;
        for (int i = 0; i < 16; i++) {
            commands[i + 1] = "print/x $ymm" + i + ".v8_int32";
        }
        Gdb gdb = Gdb.core(udckpts, program, core, commands);
        for (int i = 0; i < 16; i++) {
            String word = "0x%x".formatted(0x04030201 + 0x10101010 * i);
            assertEquals("{" + word + " <repeats 8 times>}", gdb.value(i + 1)
                    .replace(String.join(", ", Collections.nCopies(8, word)), word + " <repeats 8 times>"));
        }
    }

    /** Their place in XSAVE areas differs between processors, and gdb knows one place only. */
    private static void assertWideVectors(Udckpts udckpts, String program, Path core) throws Exception {
        if (Files.readString(Path.of("/proc/cpuinfo")).contains(" avx512f ")) {
            Gdb gdb = Gdb.core(udckpts, program, core, SPINNER, "print/x $k3", "print/x $zmm31.v16_int32[0]",
                    "print/x $zmm31.v16_int32[15]");
            assertEquals("0x5aa5", gdb.value(1), gdb::output);
            assertEquals("0x24232221", gdb.value(2), gdb::output);
            assertEquals("0x34333231", gdb.value(3), gdb::output);
        }
    }

    /** The gate's and the control thread's frames are on the stacks; below them is the program as it was. */
    @Tag("slow")
    @Test
    void anMpiRankStandsAtTheGate() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start("run", "-n", "2", "--name", "mpi", "--dir", images(), "--",
                    Udckpts.program("ballast"), "1", finish().toString());
            job.awaitOutput("iteration");
            assertEquals(0, udckpts.run("checkpoint", "mpi").code(), job::text);
            Gdb gdb = Gdb.core(udckpts, Udckpts.program("ballast"), export(udckpts, 4), STACKS);
            List<List<String>> stacks = List.copyOf(gdb.stacks().values());
            assertTrue(stacks.stream().anyMatch(stack -> stack.contains("main")), gdb::output);
            assertTrue(stacks.stream().anyMatch(stack -> stack.contains("serve")), gdb::output);
            assertRefused(udckpts, 66, "has no rank 2; there are 0, 1", "--rank", "2");
            assertRefused(udckpts, 66, "has no process 1; there is", "--rank", "1", "--pid", "1");
            assertRefused(udckpts, 64, "exists and is not overwritten", "--rank", "1", "--output",
                    directory.resolve("rank.core").toString());
            onAFullDisk(udckpts);
            assertRefused(udckpts, 66, "no directory", "--rank", "1", "--output",
                    directory.resolve("absent/core").toString());
            Files.createFile(finish());
            assertEquals(0, job.await(60).code(), job::text);
        }
    }

    /** Nothing is left of a file that does not fit; where mounting is not permitted, not tried. */
    private void onAFullDisk(Udckpts udckpts) throws Exception {
        Path small = Files.createDirectory(directory.resolve("small"));
        if (new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=300k,mode=700", "udckpt-test", small.toString())
                .start().waitFor() == 0) {
            try {
                assertRefused(udckpts, 73, "No space left", "--rank", "1", "--output",
                        small.resolve("core").toString());
                assertEquals(0, small.toFile().list().length);
            } finally {
                new ProcessBuilder("umount", "-l", small.toString()).inheritIO().start().waitFor();
            }
        }
    }

    private void assertRefused(Udckpts udckpts, int code, String words, String... options) throws Exception {
        List<String> all = new java.util.ArrayList<>(List.of("export-core", images()));
        all.addAll(List.of(options));
        Udckpts.Result result = udckpts.run(all.toArray(String[]::new));
        assertEquals(code, result.code(), result.toString());
        assertTrue(result.errors().contains(words), result.toString());
    }

    private String images() {
        return directory.resolve("images").toString();
    }

    private Path finish() {
        return directory.resolve("finish");
    }
}
