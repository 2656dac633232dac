package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.system.cli.ScriptedJava;

/**
 * As {@code MappedFileAttackTest} (module process-image), by the command, for a job of an ordinary user: a stranger's
 * code in the place of the job's.
 */
@Timeout(1200)
class MappedFileOwnerAttackTest {
    private static final int CODE_AT = 3 * 4096, SECONDS = 60, SLOW = 20;
    private static final byte[] HIS_CODE = {(byte) 0xb8, (byte) 0x9a, 2, 0, 0, (byte) 0xc3}; // mov $666, %eax; ret

    private Path directory;
    private Path files;
    private Path code;
    private Path forged;

    @BeforeEach
    void aCheckpoint() throws Exception {
        OrdinaryUser.requireRoot();
        directory = OrdinaryUser.OWNER.own(Files.createTempDirectory("udckpt-o"));
        mode(directory, "rwxr-xr-x");
        files = Files.createDirectory(directory.resolve("files"));
        for (Path each : List.of(files, Files.createDirectory(files.resolve("away")),
                Files.createDirectory(directory.resolve("work")), Files.createDirectory(directory.resolve("home")))) {
            OrdinaryUser.OWNER.own(each);
        }
        mode(files, "rwxrwxrwx");
        mode(files.resolve("away"), "rwxrwxrwx");
        Process job = start("run", "--name", "job", "--dir", directory.resolve("images").toString(), "--",
                CommandLine.artifact("features/mapped_code").toString(),
                directory.resolve("work").toString(), files.toString());
        try {
            for (int i = 0; !Files.exists(directory.resolve("work/ready"))
                    || !Files.exists(directory.resolve("run/job/command.sock")); i++) {
                assertTrue(job.isAlive() && i < SECONDS * 100, () -> said("run"));
                Thread.sleep(10);
            }
            assertEquals(0, end(start("checkpoint", "job", "--then", "kill")), () -> said("checkpoint"));
            end(job);
        } finally {
            job.destroyForcibly();
        }
        code = files.resolve("code.so");
        byte[] bytes = Files.readAllBytes(code);
        System.arraycopy(HIS_CODE, 0, bytes, CODE_AT, HIS_CODE.length);
        forged = OrdinaryUser.STRANGER.own(Files.write(files.resolve("away/code.so"), bytes));
        mode(forged, "rwxr-xr-x");
        Files.setLastModifiedTime(forged, Files.getLastModifiedTime(code));
    }

    @AfterEach
    void remove() throws Exception {
        if (directory != null) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }

    private static void mode(Path path, String mode) throws Exception {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    /** The command, by the owner. */
    private Process start(String... arguments) throws Exception {
        List<String> words = new ArrayList<>(List.of("env", "HOME=" + directory.resolve("home"),
                "UDCKPT_RUNTIME=" + directory.resolve("run"), "setsid", "--wait"));
        words.addAll(ScriptedJava.command(arguments[0]));
        words.addAll(List.of("-Dudckpt.native=" + System.getProperty("udckpt.native"), "org.udckpt.cli.Main"));
        words.addAll(List.of(arguments));
        return new ProcessBuilder(OrdinaryUser.OWNER.command(words)).directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.to(directory.resolve(arguments[0] + ".out").toFile())).start();
    }

    private static int end(Process process) throws Exception {
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new AssertionError("it did not end in " + SECONDS + " s");
        }
        return process.exitValue();
    }

    private String said(String verb) {
        try {
            return Files.readString(directory.resolve(verb + ".out"));
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    /** "PASS", what the stranger changed, or "refused". */
    private String outcome() throws Exception {
        Path result = directory.resolve("work/result");
        Files.deleteIfExists(result);
        if (!Files.exists(directory.resolve("work/finish"))) {
            Files.createFile(directory.resolve("work/finish"));
        }
        int exit = end(start("restart", directory.resolve("images").toString()));
        if (Files.exists(result)) {
            return Files.readString(result).strip();
        }
        assertTrue(exit == 74 || exit == 77, () -> said("restart"));
        assertTrue(said("restart").contains(code.toString()), () -> said("restart"));
        return "refused";
    }

    @Tag("slow")
    @Test
    void sameSizeAndTimeBeforeTheRestart() throws Exception {
        Path kept = files.resolve("kept");
        Tries.noneWins("a program of the same size and time in the place of a user's", SLOW, _ -> {
            Files.move(code, kept);
            Files.move(forged, code);
            try {
                return !outcome().equals("refused");
            } finally {
                Files.move(code, forged);
                Files.move(kept, code);
            }
        });
        assertEquals("PASS", outcome(), () -> said("restart"));
    }

    @Tag("slow")
    @Test
    void exchangedDuringTheRestart() throws Exception {
        Path program = OrdinaryUser.program("swap_names", directory.toRealPath());
        Process swapping = OrdinaryUser.STRANGER.start(program.toString(), "3600", code.toString(), forged.toString(),
                files.toString());
        try (BufferedReader said = new BufferedReader(new InputStreamReader(swapping.getInputStream()))) {
            assertEquals("ready", said.readLine());
            Tries.noneWins("a user's program exchanged at each look at its directory during the restart", SLOW, _ -> {
                String outcome = outcome();
                return !outcome.equals("refused") && !outcome.equals("PASS");
            });
            swapping.getOutputStream().close();
            assertTrue(Long.parseLong(said.readLine()) > 0, "nothing was exchanged");
        } finally {
            swapping.destroyForcibly().waitFor();
        }
        if ((int) Files.getAttribute(code, "unix:uid") == OrdinaryUser.STRANGER.uid()) {
            Path third = files.resolve("third");
            Files.move(code, third);
            Files.move(forged, code);
            Files.move(third, forged);
        }
        assertEquals("PASS", outcome(), () -> said("restart"));
    }
}
