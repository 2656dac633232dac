package org.udckpt.system.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.Udckpts;

/** JVMs as ranks: DiSNI clients that talk UD through libdisni.so go on over checkpoint, kill and restart. */
@Timeout(600)
class DisniJobTest {
    private static final int INCARNATIONS = 3;
    private static final int LINES_PER_RUN = 3;

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void datagramsGoOnOverRestarts() throws Exception {
        goOnOverRestarts(Datagrams.class, directory.toString());
    }

    /** One RC connection, made by rdma_cm in the first incarnation, with messages, RDMA writes and reads. */
    @Tag("slow")
    @Test
    void connectionGoesOnOverRestarts() throws Exception {
        goOnOverRestarts(Connections.class, directory.toString(), "7303");
    }

    private void goOnOverRestarts(Class<?> client, String... arguments) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
            String images = directory.resolve("images").toString();
            List<String> words = new ArrayList<>(List.of("run", "-n", "2", "--hosts", "a,b", "--name", "disni", "--dir",
                    images, "--", "sh", "-c",
                    "exec \"$@\" $PMI_RANK", "rank", java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m",
                    "--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                    "-Djava.library.path=" + System.getProperty("udckpt.native"), "-cp",
                    System.getProperty("java.class.path"),
                    client.getName()));
            words.addAll(List.of(arguments));
            Udckpts.Running run = udckpts.start(words.toArray(String[]::new));
            for (int i = 0; i < INCARNATIONS - 1; i++) {
                awaitLines(run);
                Udckpts.Result checkpoint = udckpts.run("checkpoint", "disni", "--then", "kill");
                assertEquals("ckpt-%04d\n".formatted(i + 1), checkpoint.output(), checkpoint + run.soFar().errors());
                assertEquals(0, run.await(120).code(), run.soFar().toString());
                run = udckpts.start("restart", images);
            }
            awaitLines(run);
            Files.createFile(directory.resolve("finish"));
            Udckpts.Result end = run.await(120);
            assertEquals(0, end.code(), end.toString());
            List<String> verdicts = end.output().lines().filter(line -> line.startsWith("PASS ")).toList();
            assertEquals(2, verdicts.size(), end.toString());
            assertEquals(verdicts.getFirst(), verdicts.getLast(), "both saw the same number of rounds");
        }
    }

    private static void awaitLines(Udckpts.Running run) throws Exception {
        while (run.soFar().output().lines().filter(line -> line.startsWith("round ")).count() < LINES_PER_RUN) {
            assertTrue(run.isAlive(), run.soFar().toString());
            Thread.sleep(20);
        }
    }
}
