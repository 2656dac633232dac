package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/**
 * What stands where a restarted job had a name: a restart and its plan refuse it with the same words, and neither
 * changes it (docs/user/files.md).
 */
@Timeout(600)
class TakenNamesTest {
    /** Puts something there; closing takes it away again. */
    private interface Obstacle {
        AutoCloseable put() throws Exception;
    }

    private static String source(String name) {
        return Path.of(System.getProperty("udckpt.root"), "system-test/src/test/trees", name).toString();
    }

    /** Each kind of name, and each way in which it can be taken. */
    @Tag("slow")
    @Test
    void planAndRestartFindTheSame() throws Exception {
        assumeTrue(new ProcessBuilder("python3", "-c", "").start().waitFor() == 0, "no python3");
        OrdinaryUser.requireRoot();
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("python3", source("names.py"), "@/finish", "@/job"))) {
            tree.start();
            tree.await("started");
            String[] names = tree.output().lines().filter(line -> line.startsWith("names ")).findFirst().orElseThrow()
                    .split(" ");
            Path memory = Path.of(names[1]);
            Path job = tree.file("job");
            checkpoint(tree);

            refused(tree, 77, memory.toString(), () -> instead(memory,
                    () -> Files.setAttribute(Files.createFile(memory), "unix:uid", OrdinaryUser.STRANGER.uid())));
            refused(tree, 77, memory.toString(),
                    () -> instead(memory, () -> Files.createSymbolicLink(memory, job.resolve("read"))));
            refused(tree, 77, "hard links", () -> instead(memory,
                    () -> Files.createLink(memory, Files.createFile(Path.of(memory + "-other")))));
            refused(tree, 75, "in use by process ",
                    () -> started("sh", "-c", "exec 9<" + memory + "; echo ready; read x"));
            refused(tree, 77, job.resolve("fifo").toString(),
                    () -> instead(job.resolve("fifo"), () -> Files.createFile(job.resolve("fifo"))));
            refused(tree, 75, "in use by process ",
                    () -> started("sh", "-c", "exec 9<>" + job.resolve("fifo") + "; echo ready; read x"));
            refused(tree, 75, job.resolve("sockets/server") + ", which the job had, is in use by process ",
                    () -> instead(job.resolve("sockets/server"), () -> {},
                            ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                                    .bind(UnixDomainSocketAddress.of(moved(job.resolve("sockets/server"))))));
            refused(tree, 75, "@" + names[2] + ", which the job had, is in use by process ",
                    () -> started("python3", "-c", "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0"
                            + names[2] + "'); print('ready', flush=True); input()"));
            refused(tree, 75, "port " + names[3] + " is in use",
                    () -> new ServerSocket(Integer.parseInt(names[3]), 1, InetAddress.ofLiteral("127.0.0.1")));
            refused(tree, 75, "its port is in use",
                    () -> new DatagramSocket(new InetSocketAddress("127.0.0.1", Integer.parseInt(names[4]))));
            refused(tree, 74, job.resolve("work") + ", which the job works in, is missing",
                    () -> instead(job.resolve("work"), () -> {}));
            refused(tree, 74, "has become a symbolic link", () -> instead(job.resolve("work"),
                    () -> Files.createSymbolicLink(job.resolve("work"), job.resolve("opened"))));
            refused(tree, 74, job.resolve("opened") + ", which the job has open, is missing",
                    () -> instead(job.resolve("opened"), () -> {}));
            refused(tree, 74, job.resolve("read") + ", which the job has open, is missing",
                    () -> instead(job.resolve("read"), () -> {}));
            refused(tree, 74, "has become a symbolic link", () -> instead(job.resolve("read"),
                    () -> Files.createSymbolicLink(job.resolve("read"), tree.file("job/work"))));
            refused(tree, 77, "has become a symbolic link", () -> instead(job.resolve("sockets"),
                    () -> Files.createSymbolicLink(job.resolve("sockets"), job.resolve("opened"))));

            new ProcessBuilder("rm", "-rf", job.resolve("sockets").toString(), job.resolve("fifo").toString(),
                    memory.toString()).start().waitFor(); // as after a reboot
            assertEquals(0, tree.plan(), tree::refusal);
            tree.restart();
            tree.await("");
            checkpoint(tree);
            assertEquals(0, tree.plan(), tree::refusal);
            tree.restart(); // over what the former incarnation has left
            tree.finish();
            assertTrue(tree.output().contains("result all names are right"), tree::text);
            assertFalse(Files.exists(memory), "left behind: " + memory);
            tree.good();
        }
    }

    private static void refused(ProcessTreeJob tree, int code, String words, Obstacle obstacle) throws Exception {
        try (AutoCloseable _ = obstacle.put()) {
            assertEquals(code, tree.plan(), () -> words + "\n" + tree.refusal());
            String planned = tree.refusal();
            assertTrue(planned.contains(words), () -> words + "\n" + planned);
            assertEquals(code, tree.refusedRestart(), () -> words + "\n" + tree.refusal());
            assertEquals(said(planned), said(tree.refusal()));
        }
    }

    /** What was wrong, without what another line says about the log and the like. */
    private static String said(String text) {
        return text.lines().filter(line -> line.contains("restart from ")).findFirst().orElse(text);
    }

    private static Path moved(Path path) throws IOException {
        return Files.move(path, Path.of(path + "-kept")).resolveSibling(path.getFileName());
    }

    private interface Step {
        void take() throws IOException;
    }

    /** Something else in its place; what was there comes back. */
    private static AutoCloseable instead(Path path, Step put, AutoCloseable... more) throws IOException {
        Path kept = Path.of(path + "-kept");
        if (!Files.exists(kept, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            Files.move(path, kept);
        }
        put.take();
        return () -> {
            for (AutoCloseable one : more) {
                one.close();
            }
            Files.deleteIfExists(path);
            Files.deleteIfExists(Path.of(path + "-other"));
            Files.move(kept, path);
        };
    }

    private static AutoCloseable started(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertEquals("ready", process.inputReader().readLine());
        return () -> process.destroyForcibly().waitFor();
    }

    /** Python's multiprocessing.Manager has a socket in a directory of its own, of mode 0700 in /tmp. */
    @Tag("slow")
    @Test
    void theDirectoryOfASocketHasGone() throws Exception {
        assumeTrue(new ProcessBuilder("python3", "-c", "").start().waitFor() == 0, "no python3");
        try (ProcessTreeJob tree =
                new ProcessTreeJob(List.of("env", "TMPDIR=@", "python3", source("manager.py"), "@/finish"))) {
            String wanted = tree.undisturbed();
            tree.start();
            tree.await("started");
            Path socket = Path.of(tree.output().lines().filter(line -> line.startsWith("socket ")).findFirst()
                    .orElseThrow().substring("socket ".length()));
            checkpoint(tree);
            new ProcessBuilder("rm", "-rf", socket.getParent().toString()).start().waitFor();
            assertEquals(0, tree.plan(), tree::refusal);
            tree.restart();
            tree.finish();
            assertEquals(wanted.lines().filter(line -> line.startsWith("result ")).toList(),
                    tree.output().lines().filter(line -> line.startsWith("result ")).toList(), tree::text);
            tree.good();
        }
    }

    /** Some moments it refuses: a connection that is not accepted yet. */
    private static void checkpoint(ProcessTreeJob tree) throws Exception {
        int code = tree.checkpoint();
        for (int i = 0; i < 20 && code != 0; i++) {
            Thread.sleep(50);
            code = tree.checkpoint();
        }
        assertEquals(0, code, tree::text);
        tree.kill();
    }
}
