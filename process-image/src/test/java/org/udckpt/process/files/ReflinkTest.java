package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile.Cut;

/**
 * On file systems with reflinks (in a file, through a loop device) a large file is cloned in the stop, and may be
 * written on at once.
 */
@Timeout(120)
class ReflinkTest {
    private static final int BIG = 9 << 20;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"btrfs", "xfs"})
    void aCloneKeepsWhatWas(String kind) throws Exception {
        Path disk = directory.resolve("disk");
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "rw")) {
            file.setLength(320L << 20);
        }
        assumeTrue(run("mkfs." + kind, "-q", disk.toString()), "no mkfs." + kind);
        Path mounted = Files.createDirectory(directory.resolve("mounted"));
        assumeTrue(run("mount", "-t", kind, "-o", "loop", disk.toString(), mounted.toString()),
                "mounting " + kind + " through a loop device is not possible here");
        try {
            Path file = mounted.resolve("scratch");
            byte[] then = new byte[BIG];
            new Random(4).nextBytes(then);
            Files.write(file, then);
            long inode = org.udckpt.linux.Files.stat(file.toString()).inode();
            SavedFiles saved = SavedFiles.of(SavedFiles.named(1000), SavedFiles.open(file, Syscall.O_RDWR)
                    .andThen(cut -> assertTrue(cut.mapped(file.toString(), inode, 100))), () -> {
                        try (RandomAccessFile writer = new RandomAccessFile(file.toFile(), "rw")) {
                            writer.seek(5_000_000);
                            writer.write(new byte[1_000_000]);
                            writer.setLength(BIG + 5);
                        } catch (java.io.IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    });
            assertEquals(Cut.CLONED, saved.cut(file));
            assertEquals(List.of(RolledBack.What.REPLACED),
                    saved.restore(true).stream().map(RolledBack::what).toList());
            assertTrue(Arrays.equals(then, Files.readAllBytes(file)));
        } finally {
            assertTrue(run("umount", "-l", mounted.toString()));
        }
    }

    private static boolean run(String... command) throws Exception {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start().waitFor() == 0;
        } catch (java.io.IOException missing) {
            return false;
        }
    }
}
