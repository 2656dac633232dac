package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.attack.OrdinaryUser;
import org.udckpt.attack.Tries;

/**
 * A stranger takes a name of a job before its restart, or exchanges what is there during it: he gets nothing, and
 * overwrites nothing.
 */
@Timeout(3600)
class NamesAttackTest {
    private static final int FEWER = 4;

    private Path tools;

    @BeforeAll
    static void asRoot() throws IOException {
        OrdinaryUser.requireRoot();
    }

    @BeforeEach
    void tools() throws IOException {
        tools = Files.createTempDirectory("udckpt-a",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    @AfterEach
    void removeTools() throws IOException {
        FeatureSuite.deleteTree(tools);
    }

    private static OrdinaryUser owner(boolean root) {
        return root ? null : OrdinaryUser.OWNER;
    }

    /** Runs until it is closed. */
    private final class Attacker implements AutoCloseable {
        private final Process process;

        Attacker(String program, String... arguments) throws IOException {
            List<String> command = new java.util.ArrayList<>(List.of(OrdinaryUser.program(program, tools).toString()));
            command.addAll(List.of(arguments));
            process = OrdinaryUser.STRANGER.start(command.toArray(String[]::new));
            assertEquals("ready", new BufferedReader(new InputStreamReader(process.getInputStream())).readLine());
        }

        @Override
        public void close() throws IOException, InterruptedException {
            process.getOutputStream().close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
    }

    private static int stranger(String script) throws IOException, InterruptedException {
        return OrdinaryUser.STRANGER.run("sh", "-c", script);
    }

    /** A file, link, FIFO or directory of his stands there when the job comes. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sharedMemoryThatWasMadeFirst(boolean root) throws Exception {
        try (Victim victim = new Victim("shared_memory", owner(root), false)) {
            Path name = Path.of("/dev/shm/udckpt-feature-" + victim.pid);
            Path own = Path.of("/dev/shm/udckpt-stranger-" + victim.pid);
            Tries.noneWins("shared memory that was made first, job of " + (root ? "root" : "a user"), FEWER, n -> {
                Files.deleteIfExists(name);
                assertEquals(0, stranger(switch (n % 5) {
                    case 0 -> "umask 0; : > " + name;
                    case 1 -> "ln -s " + victim.precious + " " + name;
                    case 2 -> "mkfifo -m 666 " + name;
                    case 3 -> "mkdir -m 777 " + name;
                    default -> "umask 0; : > " + own + "; ln " + own + " " + name;
                }), "the stranger's preparation");
                try {
                    String outcome = victim.restart();
                    assertTrue(outcome.equals("runs") || outcome.contains(name.toString()), outcome);
                    boolean filled = Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS) && Files.size(name) > 0;
                    return victim.isSpoiled() || outcome.equals("runs") || filled;
                } finally {
                    Files.deleteIfExists(name);
                    Files.deleteIfExists(own);
                }
            });
            assertEquals("runs", victim.restart(), "without an attack");
        }
    }

    /** He makes the name in the moment in which it is free. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void raceForSharedMemory(boolean root) throws Exception {
        try (Victim victim = new Victim("shared_memory", owner(root), false)) {
            Path name = Path.of("/dev/shm/udckpt-feature-" + victim.pid);
            Tries.noneWins("race for the name of shared memory, job of " + (root ? "root" : "a user"), FEWER, n -> {
                Files.deleteIfExists(name);
                try (Attacker _ = new Attacker("take_name", name.toString(),
                        n % 2 == 0 ? victim.precious.toString() : "-", "/dev/shm")) {
                    String outcome = victim.restart();
                    boolean his = Files.exists(name, LinkOption.NOFOLLOW_LINKS) && OrdinaryUser.STRANGER.uid()
                            == (int) Files.getAttribute(name, "unix:uid", LinkOption.NOFOLLOW_LINKS);
                    boolean filled =
                            his && Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS) && Files.size(name) > 0;
                    return victim.isSpoiled() || filled || his && outcome.equals("runs");
                } finally {
                    Files.deleteIfExists(name);
                }
            });
        }
    }

    /**
     * In a directory of the job in which he may write: a link in the place of an open file, between the rollback and
     * the open behind it.
     */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fileThatIsExchanged(boolean root) throws Exception {
        try (Victim victim = new Victim("file_offset", owner(root), true)) {
            Path file = victim.work.resolve("appended.data");
            int[] exchanged = new int[1];
            Tries.noneWins("an open file exchanged for a link, job of " + (root ? "root" : "a user"), FEWER, _ -> {
                Files.delete(file);
                Files.writeString(file, "the rollback puts another one here");
                if (!root) {
                    OrdinaryUser.OWNER.own(file);
                }
                try (Attacker _ = new Attacker("replace_name", victim.work.toString(), file.getFileName().toString(),
                        victim.precious.toString())) {
                    exchanged[0] += victim.restart().startsWith("refused ") ? 1 : 0;
                }
                Files.deleteIfExists(victim.work.resolve("result"));
                return victim.isSpoiled();
            });
            assertTrue(exchanged[0] > 0, "the attacker was never in time");
        }
    }

    /** The FIFO by which the job takes its commands has gone, and there is one of his. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void strangersFifo(boolean root) throws Exception {
        try (Victim victim = new Victim("fifo", owner(root), true)) {
            Path fifo = victim.work.resolve("fifo");
            Tries.noneWins("a FIFO of a stranger's, job of " + (root ? "root" : "a user"), FEWER, _ -> {
                assertEquals(0, stranger("rm -f " + fifo + "; mkfifo -m 666 " + fifo));
                String outcome = victim.restart();
                assertTrue(outcome.equals("runs") || outcome.contains(fifo.toString()), outcome);
                return outcome.equals("runs");
            });
            Files.deleteIfExists(fifo);
            assertEquals("runs", victim.restart(), "without an attack");
        }
    }

    /** Nobody's attack: a server of somebody else has the path meanwhile, and his clients stay with him. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void liveServer(boolean root) throws Exception {
        try (Victim victim = new Victim("named_sockets", owner(root), true)) {
            Path path = victim.work.resolve("server");
            Tries.noneWins("a live server cut off from its clients, job of " + (root ? "root" : "a user"), FEWER, _ -> {
                try (Attacker _ = new Attacker("serve_socket", path.toString())) {
                    String outcome = victim.restart();
                    try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                        client.connect(UnixDomainSocketAddress.of(path));
                        if (OrdinaryUser.STRANGER.uid()
                                != (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)) {
                            return true; // who answers there is the restarted job
                        }
                        assertTrue(outcome.contains(path.toString()), outcome);
                        return false;
                    } catch (IOException cutOff) {
                        return true;
                    }
                }
            });
            assertEquals(0, stranger("rm -f " + path));
            assertEquals("runs", victim.restart(), "without an attack");
        }
    }
}
