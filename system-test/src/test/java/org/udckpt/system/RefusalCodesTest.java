package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.attack.OrdinaryUser;

/**
 * What time does not mend ends a checkpoint with code 69, whichever step of the capture finds it, also where nobody
 * waits for the image; what may be over the next time with 75. The job goes on, and ends well.
 */
@Timeout(120)
class RefusalCodesTest {
    /** Makes what its second argument names, and waits for the file `finish` in its first one. */
    private static final Path SOURCE = Path.of("../process-image/src/test/capture/odd.c");
    private static final int UNSUPPORTED = 69, BUSY = 75;
    private static Path programs;

    @BeforeAll
    static void compile() throws Exception {
        programs = Files.createTempDirectory("udckpt-odd");
        List<String> compiler =
                List.of("gcc", "-O1", "-pthread", "-o", programs.resolve("odd").toString(), SOURCE.toString());
        assertEquals(0, new ProcessBuilder(compiler).inheritIO().start().waitFor());
    }

    @AfterAll
    static void remove() throws Exception {
        delete(programs);
    }

    /**
     * One of each step, in their order: stop, look from outside, order of the tree, calls in the threads, descriptors,
     * questions to the snapshot.
     */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"call-handler, PR_SET_SYSCALL_USER_DISPATCH",
            "aio, io_setup", "groups, cannot be restored at its place",
            "thread-keyring, a thread keyring",
            "segment, nobody attached", "path-handle, O_PATH", "tcp-self, connected to itself",
            "signal-io, which is outside of the job",
            "session-keyring, a session keyring of its own"})
    void whatTimeDoesNotMend(String kind, String words) throws Exception {
        checkpoint(kind, UNSUPPORTED, words);
    }

    @Test
    void whatMayBeOverTheNextTime() throws Exception {
        checkpoint("tcp-urgent", BUSY, "a pending urgent byte");
    }

    /**
     * A file server of another user (fcntl(2), F_SETLEASE): a lease that a reader does not break stays, and one that
     * any open would break is a reason to refuse. The server hears of neither checkpoint.
     */
    @Test
    void aStrangersLeases() throws Exception {
        OrdinaryUser.requireRoot();
        Path directory = Files.createTempDirectory("udckpt-c");
        CommandLine commands = new CommandLine(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path read = OrdinaryUser.STRANGER.own(Files.writeString(directory.resolve("read"), "x"));
        Path saved = OrdinaryUser.STRANGER.own(Files.writeString(directory.resolve("saved"), "x"));
        Process agent = commands.start("job", "run", "-n", "1", "--name", "job", "--dir",
                directory.resolve("ckpt").toString(), "--files", saved.toString(), "--",
                "/bin/sh", "-c",
                "cd " + directory + "; exec 9<read; : >ready; while ! [ -e finish ]; do sleep 0.1; done");
        Process server = null;
        try {
            await(directory.resolve("ready"), agent, commands);
            server = OrdinaryUser.STRANGER.start("python3", "-c", """
                    import fcntl, signal, sys
                    signal.signal(signal.SIGIO, lambda *_: print('broken', flush=True))
                    files = [open(name) for name in sys.argv[1:]]
                    for file, lease in zip(files, (fcntl.F_RDLCK, fcntl.F_WRLCK)):
                        fcntl.fcntl(file, fcntl.F_SETLEASE, lease)
                    print('leased', flush=True)
                    sys.stdin.readline()
                    fcntl.fcntl(files[1], fcntl.F_SETLEASE, fcntl.F_UNLCK)
                    print('released', flush=True)
                    sys.stdin.readline()
                    """, read.toString(), saved.toString());
            assertEquals("leased", server.inputReader().readLine());
            assertEquals(UNSUPPORTED, commands.run("checkpoint", 40, "checkpoint", "job"), () -> text(commands));
            assertTrue(text(commands).contains("a write lease on " + saved), () -> text(commands));
            server.outputWriter().append("\n").flush();
            assertEquals("released", server.inputReader().readLine());
            assertEquals(0, commands.run("checkpoint", 40, "checkpoint", "job"), () -> text(commands));
            server.outputWriter().append("\n").flush();
            assertNull(server.inputReader().readLine(),
                    "a checkpoint has broken the lease on the file that the job reads");
        } finally {
            if (server != null) {
                server.destroyForcibly().waitFor();
            }
            end(agent, commands);
        }
        delete(directory);
    }

    private static void checkpoint(String kind, int code, String words) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-c");
        CommandLine commands = new CommandLine(directory);
        Path work = Files.createDirectory(directory.resolve("work"));
        Path program = Files.copy(programs.resolve("odd"), work.resolve("odd"));
        Process agent = commands.start("job", "run", "-n", "1", "--name", "job", "--dir",
                directory.resolve("ckpt").toString(), "--", program.toString(),
                work.toString(), kind);
        try {
            await(work.resolve("ready"), agent, commands);
            assertEquals(code, commands.run("checkpoint", 40, "checkpoint", "job"), () -> text(commands));
            assertEquals(code, commands.run("checkpoint", 40, "checkpoint", "job", "--no-wait"), () -> text(commands));
            List<String> lines = Files.readAllLines(directory.resolve("checkpoint.err"));
            assertEquals(2, lines.stream().filter(line -> line.contains(words)).count(), () -> text(commands));
            for (String line : lines) {
                int again = line.indexOf("; try again");
                assertTrue(again < 0 || code == BUSY && line.indexOf("; try again", again + 1) < 0, line);
            }
            Files.createFile(work.resolve("finish"));
            assertTrue(agent.waitFor(30, TimeUnit.SECONDS), () -> "it did not finish\n" + text(commands));
            assertEquals("PASS\n", Files.readString(work.resolve("result")), () -> text(commands));
        } finally {
            end(agent, commands);
        }
        delete(directory); // kept when anything above failed
    }

    private static void await(Path file, Process agent, CommandLine commands) throws Exception {
        for (int round = 0; !Files.exists(file); round++) {
            assertTrue(agent.isAlive() && round < 1500, () -> file + " did not appear\n" + text(commands));
            Thread.sleep(20);
        }
    }

    private static void end(Process agent, CommandLine commands) throws Exception {
        agent.destroy();
        if (!agent.waitFor(10, TimeUnit.SECONDS)) {
            agent.destroyForcibly().waitFor();
        }
        RankProcesses.kill(commands.runtime().resolve("job"));
    }

    private static String text(CommandLine commands) {
        try {
            return commands.printed("job") + commands.printed("checkpoint");
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    private static void delete(Path directory) throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }
}
