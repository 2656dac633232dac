package org.udckpt.image.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Images;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.FakeProcess;

/** What was brought near is what is read, whenever one reads, and whatever becomes of the files. */
@Timeout(120)
class ReadAheadTest {
    @TempDir
    Path temp;

    private static void assertHolds(CheckpointReader reader, List<FakeProcess> processes) throws IOException {
        for (FakeProcess process : processes) {
            process.assertEqualTo(reader.node(0).memory(process.id));
        }
    }

    @Test
    void memoryIsTheSame() throws Exception {
        Random random = new Random(Images.seed("ReadAheadTest"));
        for (int i = 0; i < 12; i++) {
            List<FakeProcess> processes = List.of(new FakeProcess(1, random, 4, 2000), new FakeProcess(2, random, 30, 40));
            Manifest manifest = Images.write(temp.resolve("c"), Images.options().withStripes(1 + random.nextInt(4)), processes);
            try (CheckpointReader reader = CheckpointReader.open(temp.resolve("c").resolve(ImageNames.directory(manifest.id())), Images.KEY)) {
                reader.node(0).readAhead(random.nextInt(20 << 20));
                Thread.sleep(random.nextInt(5));
                if (random.nextBoolean()) {
                    reader.node(0).stopReadAhead();
                }
                assertHolds(reader, processes);
            }
        }
    }

    /** Bytes of the stripe files that are in the page cache: fincore(1). */
    private static long near(Path checkpoint) throws Exception {
        try (var files = Files.list(checkpoint)) {
            long bytes = 0;
            for (Path file : files.filter(path -> path.getFileName().toString().contains("stripe")).toList()) {
                Process fincore = new ProcessBuilder("fincore", "--bytes", "--noheadings", "--output", "RES", file.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
                bytes += Long.parseLong(new String(fincore.getInputStream().readAllBytes()).trim());
                assertEquals(0, fincore.waitFor());
            }
            return bytes;
        }
    }

    @Test
    void noMoreThanWasAllowedComesNear() throws Exception {
        List<FakeProcess> processes = List.of(new FakeProcess(1, new Random(1), 1, 10000));
        Images.write(temp.resolve("c"), Images.options().withStripes(2).withDirect(true), processes); // past the page cache, where the file system has that
        Path checkpoint = temp.resolve("c").resolve(ImageNames.directory(1));
        long before = near(checkpoint), most = 12 << 20;
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
            reader.node(0).readAhead(most);
            Thread.sleep(300);
            reader.node(0).stopReadAhead();
            if (before == 0) {
                long now = near(checkpoint);
                assertTrue(now > 0 && now <= most, now + " bytes");
            }
            assertHolds(reader, processes);
        }
    }

    @Test
    void whatIsNotThereIsSaidByWhoReadsIt() throws Exception {
        List<FakeProcess> processes = List.of(new FakeProcess(1, new Random(2), 4, 2000));
        Images.write(temp.resolve("c"), Images.options().withStripes(1), processes);
        Path checkpoint = temp.resolve("c").resolve(ImageNames.directory(1));
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
            try (FileChannel stripe = FileChannel.open(checkpoint.resolve(ImageNames.stripe(0, 0)), StandardOpenOption.WRITE)) {
                stripe.truncate(5000);
            }
            reader.node(0).readAhead(64 << 20);
            Thread.sleep(100);
            assertThrows(ImageError.Corrupt.class, () -> reader.verify((done, total) -> { }));
        }
    }
}
