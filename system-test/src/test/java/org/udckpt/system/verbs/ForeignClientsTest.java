package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.RuntimeDirectory;
import org.udckpt.system.cli.Udckpts;

/**
 * Verbs and rdma_cm clients that nobody here wrote, killed after a checkpoint while they exchange messages, end well on
 * other hosts. bench/clients runs all of them, in more ways.
 */
@Tag("slow")
@Timeout(900)
class ForeignClientsTest {
    private static final int ATTEMPTS = 4;

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("org.udckpt.system.verbs.ForeignClient#quick")
    void endsWellAfterRestart(ForeignClient client) throws Exception {
        assumeTrue(client.isInstalled(), "not installed: " + client);
        try (Udckpts udckpts = new Udckpts(directory)) {
            if (client.isRefused()) {
                Udckpts.Result end = start(udckpts, client).await(120);
                assertNotEquals(0, end.code(), end.toString());
                assertTrue(end.errors().contains(client.wordsOfRefusal()), end.toString());
                return;
            }
            ForeignClient attempt = client;
            for (int i = 0; i < ATTEMPTS && !hasRestarted(udckpts, attempt); i++) {
                attempt = attempt.longer(4);
                if (i == ATTEMPTS - 1) {
                    fail(client + " ended before its checkpoint, " + ATTEMPTS + " times");
                }
            }
        }
    }

    /** Whether the client still ran when the checkpoint was asked for; it has passed in any case. */
    private boolean hasRestarted(Udckpts udckpts, ForeignClient client) throws Exception {
        Udckpts.Running run = start(udckpts, client);
        awaitBusy(udckpts, run, client, 2);
        if (!isKilledAfterCheckpoint(udckpts, client)) {
            assertPassed(client, run.await(120), "");
            return false;
        }
        Udckpts.Result killed = run.await(120);
        assertEquals(0, killed.code(), killed.toString());
        assertPassed(client, udckpts.start("restart", images().toString(), "--hosts", "c,d").await(300),
                killed.output());
        return true;
    }

    private static void assertPassed(ForeignClient client, Udckpts.Result end, String before) {
        assertEquals(0, end.code(), end.toString());
        assertTrue(client.hasPassed(before + end.output()), before + end);
    }

    private Path images() {
        return directory.resolve("images");
    }

    private Udckpts.Running start(Udckpts udckpts, ForeignClient client) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path go = directory.resolve("go");
        Files.deleteIfExists(go);
        Udckpts.Running run = udckpts.start("run", "-n", "2", "--hosts", "a,b", "--name", client.id(), "--dir",
                images().toString(), "--",
                "sh", "-c", client.script(port, go));
        if (client.usesPort()) {
            while (run.isAlive() && !client.isRefused() && !listens(port)) {
                Thread.sleep(20);
            }
        } else {
            awaitBusy(udckpts, run, client, 1); // has its service queue pair, and listens at any moment
        }
        Files.createFile(go);
        return run;
    }

    /** Whether somebody listens at a TCP port: state 0A of proc(5), /proc/net/tcp. */
    private static boolean listens(int port) throws IOException {
        String listening = ":%04X [0-9A-F]+:0000 0A .*".formatted(port);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            if (Files.isReadable(Path.of(table)) && Files.readAllLines(Path.of(table)).stream()
                    .anyMatch(line -> line.matches(" *\\d+: [0-9A-F]+" + listening))) {
                return true;
            }
        }
        return false;
    }

    /**
     * So many ranks have queue pairs; a moment later a server listens, or messages are exchanged and what was said over
     * TCP is said. The agent is asked directly: a JVM for each look takes the time of the client that it looks at.
     */
    private static void awaitBusy(Udckpts udckpts, Udckpts.Running run, ForeignClient client, int ranks)
            throws Exception {
        while (run.isAlive()) {
            if (busyRanks(udckpts, client) >= ranks) {
                Thread.sleep(1000);
                return;
            }
            Thread.sleep(50);
        }
    }

    private static long busyRanks(Udckpts udckpts, ForeignClient client) {
        try (CommandClient agent = CommandClient.connect(runtime(udckpts, client))) {
            JsonNode answer = agent.ask(agent.request("status"), event -> {});
            return StreamSupport.stream(answer.at("/job/ranks").spliterator(), false)
                    .filter(rank -> !rank.path("endpoints").isEmpty()).count();
        } catch (Failure notYetOrNoLonger) {
            return 0;
        }
    }

    /** False when the job ended before. */
    private static boolean isKilledAfterCheckpoint(Udckpts udckpts, ForeignClient client) {
        try (CommandClient agent = CommandClient.connect(runtime(udckpts, client))) {
            agent.ask(agent.request("checkpoint").put("kill", true).put("wait", true), event -> {});
            return true;
        } catch (Failure e) {
            if (e.code() == ExitCode.NOT_FOUND || e.code() == ExitCode.BUSY) {
                return false;
            }
            throw e;
        }
    }

    private static RuntimeDirectory runtime(Udckpts udckpts, ForeignClient client) {
        return new RuntimeDirectory(udckpts.runtime().resolve(client.id()));
    }
}
