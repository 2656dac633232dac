package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.TranslationTable;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.runtime.LineReader;

/**
 * A stranger at each of a job's sockets, whose directory and file would let him: nobody hears him, and nobody tells him
 * anything.
 */
@Timeout(600)
class UnixSocketsAttackTest {
    private static final Path NATIVE = Path.of(System.getProperty("udckpt.native"));

    @TempDir
    Path temp;
    private Path program;

    @BeforeEach
    void openTheDoors() throws Exception {
        OrdinaryUser.requireRoot();
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxrwxrwx"));
        program = OrdinaryUser.program("unix_stranger", temp);
    }

    private static void openTo(Path socket) throws Exception {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    /** Whether the server at the socket has told a stranger anything. */
    private boolean answers(Path socket, String text) throws Exception {
        openTo(socket);
        int code = OrdinaryUser.STRANGER.run(program.toString(), "connect", socket.toString(), text);
        assertTrue(code == 0 || code == 1, "the stranger got as far as to connect: " + code);
        return code == 1;
    }

    /** Whether a connection to a stranger's socket tells him anything. */
    private boolean tells(Path socket, Connecting who) throws Exception {
        Path ready = temp.resolve("ready");
        Files.deleteIfExists(ready);
        Files.deleteIfExists(socket);
        Process stranger =
                OrdinaryUser.STRANGER.start(program.toString(), "listen", socket.toString(), ready.toString());
        try {
            while (!Files.exists(ready) && stranger.isAlive()) {
                Thread.sleep(2);
            }
            who.connect();
            assertTrue(stranger.waitFor(60, TimeUnit.SECONDS), "he ends by himself");
            assertTrue(stranger.exitValue() == 0 || stranger.exitValue() == 1,
                    "somebody connected: " + stranger.exitValue());
            return stranger.exitValue() == 1;
        } finally {
            stranger.destroyForcibly();
        }
    }

    private interface Connecting {
        void connect() throws Exception;
    }

    /** Of a job that runs, and ends right. */
    @Test
    void theAgentsSockets() throws Exception {
        try (RunningJob job = RunningJob.script(": >ready; mkfifo wait; read line <wait; echo PASS")) {
            for (Path each : List.of(job.directory, job.runtime().getParent(), job.runtime())) {
                openTo(each);
            }
            Tries.noneWins("a stranger at agent.sock", 10,
                    number -> answers(job.runtime().resolve("agent.sock"), "hello"));
            Tries.noneWins("a stranger at pmi.sock", 10, number -> answers(job.runtime().resolve("pmi.sock"),
                    "rank=0\ncmd=init pmi_version=1 pmi_subversion=1\n"));
            Tries.noneWins("a stranger at command.sock", 10,
                    number -> answers(job.runtime().resolve("command.sock"), "{\"verb\":\"status\"}\n"));
            assertEquals("running", job.status().path("state").asText(), "the user is answered");
            for (String socket : List.of("agent.sock belongs to user", "PMI server: ", "command socket: ")) {
                assertEquals(2, job.errors().split(socket, -1).length, "said once: " + job.errors());
            }
            Files.writeString(job.directory.resolve("wait"), "go on\n");
            job.assertEnds(0);
        }
    }

    /** It takes one connection: the stranger's is not that. */
    @Test
    void theShepherdsSocket() throws Exception {
        Tries.noneWins("a stranger at shepherd.sock", 10, number -> {
            Path socket = temp.resolve("shepherd" + number + ".sock");
            Process shepherd = new ProcessBuilder(NATIVE.resolve("udckpt-shepherd").toString(), socket.toString())
                    .inheritIO().start();
            try {
                while (!Files.exists(socket)) {
                    Thread.sleep(2);
                }
                Thread.sleep(20); // between its bind and its listen
                boolean won = answers(socket, "spawn 0 /nonexistent\n");
                try (SocketChannel own = UnixPeer.connect(socket)) {
                    own.write(StandardCharsets.UTF_8.encode("spawn 0 /nonexistent\n"));
                    assertTrue(new LineReader(own, StandardCharsets.UTF_8, 1000).readLine().startsWith("error"),
                            "the agent is answered");
                    own.write(StandardCharsets.UTF_8.encode("quit\n"));
                }
                assertTrue(shepherd.waitFor(30, TimeUnit.SECONDS));
                return won;
            } finally {
                shepherd.destroyForcibly();
            }
        });
    }

    @Test
    void aCommandAtAStrangersSocket() throws Exception {
        Path socket = temp.resolve("command.sock");
        Tries.noneWins("a command at a stranger's socket", 10,
                number -> tells(socket, () -> assertThrows(UnixPeer.Stranger.class, () -> UnixPeer.connect(socket))));
    }

    /** Its library says why it goes without an agent. */
    @Test
    void aRankAtAStrangersAgent() throws Exception {
        // without which it would not get so far
        try (TranslationTable _ = TranslationTable.create(temp.resolve("table"), 1024, 0)) {}
        Tries.noneWins("a rank at a stranger's agent.sock", 10, number -> tells(temp.resolve("agent.sock"), () -> {
            ProcessBuilder rank = new ProcessBuilder(List.of("ibv_devinfo")).redirectErrorStream(true);
            rank.environment().put("LD_PRELOAD", NATIVE.resolve("libudckpt.so").toString());
            rank.environment().put("UDCKPT_RUNTIME_DIR", temp.toString());
            rank.environment().put("UDCKPT_DEVICE", "soft");
            Process process = rank.start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), said);
            assertTrue(said.contains("agent.sock: Permission denied; this process runs without checkpoints"), said);
        }));
    }
}
