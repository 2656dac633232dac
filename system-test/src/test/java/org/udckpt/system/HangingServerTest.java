package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server of files that stops answering, as one of NFS that is gone: here bindfs(1), which serves a directory by FUSE,
 * stopped by a signal.
 */
@Tag("slow")
@Timeout(180)
class HangingServerTest {
    /**
     * No child of it ever ends: a child's copy of the descriptor is closed then, and FUSE asks its server even for
     * that.
     */
    private static final String READS = """
            import os, time
            served = open('@/served/input')
            print('started', flush=True)
            while not os.path.exists('@/finish'):
                print('alive', flush=True)
                time.sleep(0.1)
            print('result', served.readline(), end='')
            """;

    private Path directory;
    private Process server;

    @BeforeEach
    void serve() throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/fuse")) && Files.isWritable(Path.of("/dev/fuse")), "no FUSE here");
        directory = Files.createTempDirectory("udckpt-s");
        Path source = Files.createDirectory(directory.resolve("source"));
        Files.writeString(source.resolve("input"), "kept\n");
    }

    private void serve(Path mount) throws IOException, InterruptedException {
        Files.createDirectories(mount);
        server = new ProcessBuilder("bindfs", "-f", directory.resolve("source").toString(), mount.toString())
                .inheritIO().start();
        while (!Files.exists(mount.resolve("input"))) {
            assertTrue(server.isAlive(), "bindfs has ended");
            Thread.sleep(20);
        }
    }

    /** Its end is an answer: who waits gets an error. */
    @AfterEach
    void end() throws Exception {
        if (server != null) {
            server.destroyForcibly().waitFor();
        }
        try (var files = Files.walk(directory)) {
            files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    @Test
    void theJobIsNotStoppedForIt() throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(List.of("python3", "-c", READS))) {
            Path mount = tree.file("served");
            serve(mount);
            try {
                tree.start();
                tree.await("started");
                signal("STOP");
                Thread.sleep(1500); // the kernel knows the file's attributes for a second
                assertEquals(69, tree.checkpoint(), tree::text);
                assertTrue(tree.text().contains("the file system of " + mount + "/input did not respond for 10 s"),
                        tree::text);
                long alive = lines(tree);
                Thread.sleep(500);
                assertTrue(lines(tree) > alive, () -> "the job stands still\n" + tree.text());
                signal("CONT");
                tree.checkpointAndKill();
                tree.restart();
                tree.finish();
                assertTrue(tree.output().endsWith("result kept\n"), tree::text);
                tree.good();
            } finally {
                signal("CONT");
                new ProcessBuilder("umount", "-l", mount.toString()).inheritIO().start().waitFor(10, TimeUnit.SECONDS);
            }
        }
    }

    private static long lines(ProcessTreeJob tree) {
        return tree.output().lines().count();
    }

    private void signal(String name) throws IOException, InterruptedException {
        assertEquals(0,
                new ProcessBuilder("kill", "-" + name, Long.toString(server.pid())).inheritIO().start().waitFor());
    }
}
