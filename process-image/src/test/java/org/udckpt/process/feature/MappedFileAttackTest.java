package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.process.restore.RestoreException;

/**
 * A stranger gives his own code and data the names, sizes and times of what a job of root's maps and reads. He wins
 * when the restarted job takes it. {@code MappedFileOwnerAttackTest} (module job) does the same to a job of another
 * ordinary user.
 */
@Timeout(3600) // of 1,000 tries of each attack; an eighth of a second each
class MappedFileAttackTest {
    private static final String[] FILES = {"code.so", "shared.map", "input"};
    private static final int CODE_AT = 3 * 4096;
    private static final byte[] HIS_CODE = {(byte) 0xb8, (byte) 0x9a, 2, 0, 0, (byte) 0xc3}; // mov $666, %eax; ret

    @TempDir
    Path scratch;
    @TempDir
    Path everybodys;
    private Path away;

    @BeforeEach
    void directories() throws Exception {
        OrdinaryUser.requireRoot();
        everybodys = everybodys.toRealPath();
        away = Files.createDirectory(everybodys.resolve("away"));
        mode(everybodys, "rwxrwxrwx");
        mode(away, "rwxrwxrwx");
    }

    private static void mode(Path path, String mode) throws Exception {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    /** The stranger's file, in the directory {@link #away}, made from the job's. */
    private Path forged(String name) throws Exception {
        Path original = everybodys.resolve(name);
        byte[] bytes = Files.readAllBytes(original);
        System.arraycopy(HIS_CODE, 0, bytes, name.equals("code.so") ? CODE_AT : 0, HIS_CODE.length);
        Path forged = Files.write(away.resolve(name), bytes);
        mode(forged, "rwxr-xr-x");
        OrdinaryUser.STRANGER.own(forged);
        Files.setLastModifiedTime(forged, Files.getLastModifiedTime(original));
        return forged;
    }

    /** "PASS", what he changed in the job, or "refused". */
    private static String outcome(MappedCode job) throws Exception {
        try {
            return job.verdict();
        } catch (RestoreException refused) {
            assertTrue(refused.reason() == RestoreException.Reason.FILE_CHANGED
                    || refused.reason() == RestoreException.Reason.FORBIDDEN, refused.getMessage());
            return "refused";
        }
    }

    @Test
    void sameSizeAndTimeBeforeTheRestart() throws Exception {
        try (MappedCode job = new MappedCode(scratch, everybodys)) {
            for (String name : FILES) {
                Path forged = forged(name);
                Path kept = everybodys.resolve("kept");
                Tries.noneWins("a file of the same size and time in the place of " + name, _ -> {
                    Files.move(everybodys.resolve(name), kept);
                    Files.move(forged, everybodys.resolve(name));
                    try {
                        return !outcome(job).equals("refused");
                    } finally {
                        Files.move(everybodys.resolve(name), forged);
                        Files.move(kept, everybodys.resolve(name));
                    }
                });
                assertEquals("PASS", job.verdict(), "with its own files it goes on");
            }
        }
    }

    /** /tmp is sticky, and is emptied at times: what is gone anybody can make. */
    @Test
    void whatWasRemovedFromAStickyDirectoryIsNotTakenFromWhoMakesItAgain() throws Exception {
        Files.setAttribute(everybodys, "unix:mode", 01777);
        try (MappedCode job = new MappedCode(scratch, everybodys)) {
            for (String name : FILES) {
                Path forged = forged(name);
                Path kept = scratch.resolve("kept");
                Tries.noneWins("a stranger's " + name + " where the job's has gone from a sticky directory", _ -> {
                    Files.move(everybodys.resolve(name), kept);
                    Files.move(forged, everybodys.resolve(name));
                    try {
                        return !outcome(job).equals("refused");
                    } finally {
                        Files.move(everybodys.resolve(name), forged);
                        Files.move(kept, everybodys.resolve(name));
                    }
                });
            }
            assertEquals("PASS", job.verdict(), "with its own files it goes on");
        }
    }

    /**
     * He exchanges the two files at each look at the directory, so that one is checked and the other used, if there are
     * two looks.
     */
    @Tag("slow")
    @Test
    void exchangedDuringTheRestart() throws Exception {
        Path program = OrdinaryUser.program("swap_names", scratch.toRealPath());
        mode(scratch, "rwxr-xr-x");
        try (MappedCode job = new MappedCode(scratch, everybodys)) {
            for (String name : FILES) {
                Path forged = forged(name);
                for (boolean watching : new boolean[]{false, true}) {
                    Process swapping = watching
                            ? OrdinaryUser.STRANGER.start(program.toString(), "3600",
                                    everybodys.resolve(name).toString(), forged.toString(), everybodys.toString())
                            : OrdinaryUser.STRANGER.start(program.toString(), "3600",
                                    everybodys.resolve(name).toString(), forged.toString());
                    try (BufferedReader said = new BufferedReader(new InputStreamReader(swapping.getInputStream()))) {
                        assertEquals("ready", said.readLine());
                        Tries.noneWins(name + " exchanged "
                                + (watching ? "at each look at its directory" : "all the time") + " during the restart",
                                _ -> {
                                    String outcome = outcome(job);
                                    return !outcome.equals("refused") && !outcome.equals("PASS");
                                });
                        swapping.getOutputStream().close();
                        assertTrue(Long.parseLong(said.readLine()) > 0, "nothing was exchanged");
                    } finally {
                        swapping.destroyForcibly().waitFor();
                    }
                    if (Files.getOwner(everybodys.resolve(name)).equals(Files.getOwner(forged))) {
                        throw new AssertionError("who owns what?");
                    }
                    if ((int) Files.getAttribute(everybodys.resolve(name), "unix:uid") == OrdinaryUser.STRANGER.uid()) {
                        Path third = everybodys.resolve("third");
                        Files.move(everybodys.resolve(name), third);
                        Files.move(forged, everybodys.resolve(name));
                        Files.move(third, forged);
                    }
                    assertEquals("PASS", job.verdict(), "the attacked job goes on");
                }
            }
        }
    }

    /** A FIFO would make the job wait for him, and read what he writes. */
    @Test
    void aFifoInThePlaceOfItsInput() throws Exception {
        Path program = OrdinaryUser.program("swap_names", scratch.toRealPath());
        mode(scratch, "rwxr-xr-x");
        try (MappedCode job = new MappedCode(scratch, everybodys)) {
            Path input = everybodys.resolve("input");
            Path fifo = away.resolve("fifo");
            assertEquals(0, OrdinaryUser.STRANGER.run("mkfifo", "-m", "666", fifo.toString()));
            Process swapping =
                    OrdinaryUser.STRANGER.start(program.toString(), "3600", input.toString(), fifo.toString());
            try (BufferedReader said = new BufferedReader(new InputStreamReader(swapping.getInputStream()))) {
                assertEquals("ready", said.readLine());
                Tries.noneWins("a FIFO in the place of a file that is read, during the restart", _ -> {
                    String outcome = outcome(job);
                    return !outcome.equals("refused") && !outcome.equals("PASS");
                });
                swapping.getOutputStream().close();
                assertTrue(Long.parseLong(said.readLine()) > 0, "nothing was exchanged");
            } finally {
                swapping.destroyForcibly().waitFor();
            }
            if (!Files.isRegularFile(input)) {
                Files.delete(input);
                Files.move(fifo, input);
            }
            assertEquals("PASS", job.verdict(), "the attacked job goes on");
        }
    }

    /** The reverse: nobody is kept from his own files. */
    @Test
    void touchedAndInstalledAgain() throws Exception {
        Path own = Files.createDirectory(scratch.resolve("own"));
        try (MappedCode job = new MappedCode(scratch, own)) {
            Path code = own.resolve("code.so");
            Files.setLastModifiedTime(code, FileTime.fromMillis(1_000_000));
            assertEquals("PASS", job.verdict());
            Files.write(own.resolve("new"), Files.readAllBytes(code));
            Files.move(own.resolve("new"), code, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            assertEquals("PASS", job.verdict());
            byte[] bytes = Files.readAllBytes(code);
            System.arraycopy(HIS_CODE, 0, bytes, CODE_AT, HIS_CODE.length);
            FileTime time = Files.getLastModifiedTime(code);
            Files.write(code, bytes);
            Files.setLastModifiedTime(code, time);
            String message = assertThrows(RestoreException.class, job::verdict).getMessage();
            assertTrue(message.contains(code.toString()) && message.contains("SHA-256"), message);
        }
    }
}
