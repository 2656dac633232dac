package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;

/** Jobs whose checkpoints hold only what changed, compressed and encrypted, and what is restarted from them. */
@Timeout(240)
class ImageFormsTest {
    private static final String HEX = "5d41402abc4b2a76b9719d911017c592ae2bbaa3ce8b1c9d53d8e1f0a1b2c3d4";

    @Tag("slow")
    @Test
    void aChainIsRestartedFromItsLastLink() throws Exception {
        try (RunningJob job = RunningJob.ballast(24, "--full-every", "3")) {
            for (int i = 0; i < 4; i++) {
                job.checkpoint();
            }
            List<Catalogue.Entry> images = job.images();
            assertEquals(List.of(0, 1, 2, 0), images.stream().map(entry -> entry.manifest().bases().size()).toList());
            for (int i : new int[]{1, 2}) {
                assertTrue(images.get(i).manifest().storedBytes() < images.getFirst().manifest().storedBytes() / 3,
                        images.toString());
                assertEquals(images.getFirst().manifest().bytes(), images.get(i).manifest().bytes(),
                        images.getFirst().manifest().bytes() / 10);
            }
            job.finish();
            restarted(job, images.get(2).directory());
        }
    }

    @Test
    void compressedAndEncrypted() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path key = Files.writeString(directory.resolve("key"), HEX);
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Path images = directory.resolve("images");
        try (RunningJob job =
                RunningJob.ballast(directory, images, 4, "--compress", "zstd", "--encrypt", "file:" + key)) {
            job.checkpoint();
            Manifest manifest = job.images().getFirst().manifest();
            assertTrue(manifest.encryption() != null, manifest.toString());
            assertTrue(manifest.storedBytes() < manifest.bytes(), "nothing of an MPI process's memory was compressed");
            job.finish();
            assertEquals(77, job.commands.run("locked", 60, "restart", images.toString()));
            assertTrue(job.commands.printed("locked").contains("encrypted"), job.commands.printed("locked"));
            assertEquals(77, job.commands.run("wrong", 60, "restart", "--encrypt", "command:echo " + "00".repeat(32),
                    images.toString()));
            assertTrue(job.commands.printed("wrong").contains("a different key"), job.commands.printed("wrong"));
            restarted(job, images, "--encrypt", "command:cat " + key);
        }
    }

    @Test
    void wrongFormsAreUsageErrors() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        try {
            CommandLine commands = new CommandLine(directory);
            for (List<String> flags : List.of(List.of("--compress", "gzip"), List.of("--compress", "zstd:20"),
                    List.of("--full-every", "0"),
                    List.of("--integrity", "md5"), List.of("--encrypt", "secret"))) {
                assertEquals(64, commands.run("bad", 60, "run", flags.getFirst(), flags.getLast(), "--", "/bin/true"),
                        flags.toString());
            }
            assertEquals(77, commands.run("bad", 60, "run", "--encrypt", "file:/nonexistent/key", "--", "/bin/true"),
                    commands.printed("bad"));
        } finally {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }

    /** The job goes on from there, and was right all the time. */
    private static void restarted(RunningJob job, Path image, String... flags) throws Exception {
        Files.delete(job.directory.resolve("finish"));
        List<String> words = new java.util.ArrayList<>(List.of("restart"));
        words.addAll(List.of(flags));
        words.add(image.toString());
        Process again = job.commands.start("again", words.toArray(String[]::new));
        try {
            job.await("the restarted job's command socket", () -> Files.exists(job.runtime().resolve("command.sock")));
            Files.createFile(job.directory.resolve("finish"));
            assertTrue(again.waitFor(60, TimeUnit.SECONDS), () -> "the restarted job did not end");
            assertEquals(0, again.exitValue(), job.commands.printed("again"));
            assertTrue(job.commands.printed("again").contains("PASS"), job.commands.printed("again"));
        } finally {
            again.destroyForcibly();
            RankProcesses.kill(job.runtime());
        }
    }
}
