package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/** Chains of checkpoints in which a page that did not change is stored once. */
@Timeout(180)
class IncrementalTest {
    private static final ImageForm INCREMENTAL = ImageForm.PLAIN.withIncremental(true);
    @TempDir
    Path temp;
    private final WriterOptions options = Images.options().withForm(INCREMENTAL);
    private History history;

    private Path parent() {
        return temp.resolve("c");
    }

    private Path checkpoint(long id) {
        return parent().resolve(ImageNames.directory(id));
    }

    private Catalogue catalogue() {
        return new Catalogue(parent(), Images.SECRET_KEY);
    }

    private Manifest write(WriterOptions how, List<FakeProcess> processes) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent(), how, history)) {
            Images.fill(writer, processes);
            Manifest manifest = writer.commit(Images.INFO);
            history = writer.history();
            return manifest;
        }
    }

    private List<Long> bases(long id) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint(id), Images.SECRET_KEY)) {
            return reader.manifest().bases().stream().map(Manifest.Base::id).toList();
        }
    }

    private void verify(long id) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint(id), Images.SECRET_KEY)) {
            long[] last = new long[2];
            reader.verify((done, total) -> {
                assertTrue(done > last[0] && done <= total, done + " of " + total);
                last[0] = done;
                last[1] = total;
            });
            assertEquals(last[1], last[0]);
        }
    }

    @Test
    void everyCheckpointOfAChainHoldsWhatTheJobHad() throws Exception {
        Random random = new Random(Images.seed("IncrementalTest"));
        for (int chain = 0; chain < 6; chain++) {
            history = null;
            WriterOptions any = Images.randomOptions(random);
            WriterOptions how = any.withForm(any.form().withIncremental(true));
            List<FakeProcess> processes = Images.processes(random, 3);
            for (int i = 0; i < 5; i++) {
                Manifest manifest = write(how, processes);
                Images.assertHolds(checkpoint(manifest.id()), processes);
                verify(manifest.id());
                assertEquals(i == 0, manifest.bases().isEmpty(), manifest.bases().toString());
                processes.forEach(process -> process.goOn(random));
            }
        }
    }

    @Test
    void onlyTheChangedPagesAreStored() throws Exception {
        FakeProcess process = new FakeProcess(1, new Random(5), 1, 1);
        byte[] memory = new byte[600 * Range.PAGE];
        new Random(6).nextBytes(memory);
        process.memory.clear();
        process.memory.put(0x100000L, memory);
        long full = stripes(write(options, List.of(process)));
        assertEquals(600 * Range.PAGE, full);
        memory[7 * Range.PAGE]++;
        memory[300 * Range.PAGE + 99]++;
        assertEquals(2 * Range.PAGE, stripes(write(options, List.of(process))));
        assertEquals(List.of(1L), bases(2));
        Images.assertHolds(checkpoint(2), List.of(process));
        assertEquals(0, stripes(write(options, List.of(process))));
        assertEquals(List.of(1L, 2L), bases(3));
        Images.assertHolds(checkpoint(3), List.of(process));
        try (CheckpointReader reader = CheckpointReader.open(checkpoint(3), Images.KEY)) {
            assertTrue(reader.memory(1).chunks().size() <= 7, "rows are joined: " + reader.memory(1).chunks());
        }
        history = null;
        assertEquals(full, stripes(write(options, List.of(process))));
        assertEquals(List.of(), bases(4));
    }

    /** The fourth needs nothing of the second, but the third does, and the fourth needs the third. */
    @Test
    void pruningKeepsWhatABaseIsBasedOn() throws Exception {
        FakeProcess process = new FakeProcess(1, new Random(5), 1, 1);
        byte[] memory = new byte[3 * 64 * Range.PAGE];
        new Random(6).nextBytes(memory);
        process.memory.clear();
        process.memory.put(0x100000L, memory);
        for (int changed : new int[]{0, 64, 128, 64}) {
            memory[changed * Range.PAGE]++;
            for (int page = changed; page < changed + 64; page++) {
                memory[page * Range.PAGE]++;
            }
            write(options, List.of(process));
        }
        assertEquals(List.of(1L, 2L), bases(3));
        assertEquals(List.of(1L, 3L), bases(4));
        catalogue().prune(1);
        verify(4);
        Images.assertHolds(checkpoint(4), List.of(process));
        assertTrue(catalogue().list().stream().allMatch(entry -> entry.state() == Catalogue.State.COMPLETE),
                catalogue().list().toString());
        assertEquals(4, catalogue().list().size());
        catalogue().remove(catalogue().list().get(1));
        verify(4); // which does not need it itself
    }

    private static long stripes(Manifest manifest) {
        return manifest.files().stream().filter(file -> file.cover() != null).mapToLong(Manifest.FileEntry::length)
                .sum();
    }

    @Test
    void withoutBeingAskedNothingIsRemembered() throws Exception {
        write(Images.options(), Images.processes(new Random(7), 1));
        assertNull(history);
    }

    private void chainOfThree() throws IOException {
        Random random = new Random(8);
        List<FakeProcess> processes = Images.processes(random, 2);
        for (int i = 0; i < 3; i++) {
            write(options, processes);
            processes.forEach(process -> process.goOn(random));
        }
    }

    @Test
    void pruningKeepsWhatNewerOnesNeed() throws Exception {
        chainOfThree();
        assertEquals(List.of(1L, 2L), bases(3));
        assertEquals(List.of(), catalogue().prune(1));
        history = null;
        chainOfThree();
        assertEquals(List.of(4L, 5L), bases(6));
        assertEquals(List.of(3L, 2L, 1L), catalogue().prune(1).stream().map(Catalogue.Entry::id).toList());
        verify(6);
        assertEquals(0, catalogue().prune(1).size());
    }

    @Test
    void aBaseThatIsGoneIsNamed() throws Exception {
        chainOfThree();
        Catalogue.Entry first = catalogue().list().getFirst();
        catalogue().remove(first);
        ImageError error =
                assertThrows(ImageError.Missing.class, () -> CheckpointReader.open(checkpoint(3), Images.KEY));
        assertTrue(error.getMessage().contains("ckpt-0003 holds the changes since ckpt-0001"), error.getMessage());
        assertEquals(List.of(Catalogue.State.CORRUPT, Catalogue.State.CORRUPT),
                catalogue().list().stream().map(Catalogue.Entry::state).toList());
        assertThrows(ImageError.Missing.class, () -> write(options, Images.processes(new Random(1), 1)));
        assertEquals(2, catalogue().list().size(), "a checkpoint that cannot be was begun");
    }

    @Test
    void aBaseThatGoesWhileTheCheckpointIsWrittenFailsIt() throws Exception {
        chainOfThree();
        try (CheckpointWriter writer = CheckpointWriter.create(parent(), options, history)) {
            List<FakeProcess> processes = Images.processes(new Random(8), 2);
            Images.fill(writer, processes);
            catalogue().remove(catalogue().list().getFirst());
            assertThrows(ImageError.Missing.class, () -> writer.commit(Images.INFO));
        }
        assertEquals(2, catalogue().list().size());
    }

    @Test
    void anotherCheckpointOfTheSameNumberIsNoBase() throws Exception {
        chainOfThree();
        Path other = temp.resolve("other");
        Images.write(other, Images.options(), Images.processes(new Random(9), 2));
        try (var files = Files.list(other.resolve("ckpt-0001"))) {
            for (Path file : files.toList()) {
                Files.copy(file, checkpoint(1).resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        ImageError error =
                assertThrows(ImageError.Corrupt.class, () -> CheckpointReader.open(checkpoint(3), Images.KEY));
        assertTrue(error.getMessage().contains("is a different checkpoint"), error.getMessage());
    }

    /** The manifest that is checked is the one that is used. */
    @Test
    void aBaseThatIsReplacedAfterTheOpeningIsRefused() throws Exception {
        chainOfThree();
        Path other = temp.resolve("other");
        Images.write(other, Images.options(), Images.processes(new Random(9), 2));
        try (CheckpointReader reader = CheckpointReader.open(checkpoint(3), Images.KEY)) {
            try (var files = Files.list(other.resolve("ckpt-0001"))) {
                for (Path file : files.toList()) {
                    Files.copy(file, checkpoint(1).resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            assertThrows(ImageError.Corrupt.class, () -> reader.memory(100));
        }
    }

    @Test
    void aHistoryIsForIncrementalImagesOnly() throws Exception {
        write(options, Images.processes(new Random(9), 1));
        assertThrows(IllegalArgumentException.class, () -> write(Images.options(), Images.processes(new Random(9), 1)));
    }

    @Test
    void aDamagedBaseIsNamedWithItsFile() throws Exception {
        chainOfThree();
        List<Path> stripes = new ArrayList<>(
                List.of(checkpoint(1).resolve("node-0000.stripe-00"), checkpoint(1).resolve("node-0000.stripe-01")));
        stripes.removeIf(file -> file.toFile().length() == 0);
        for (Path file : stripes) {
            byte[] good = Files.readAllBytes(file);
            byte[] bad = good.clone();
            for (int at = 100; at < bad.length; at += Range.PAGE) {
                bad[at] ^= 1;
            }
            Files.write(file, bad);
            ImageError error = assertThrows(ImageError.Corrupt.class, () -> verify(3));
            assertEquals(file, error.file());
            Files.write(file, good);
        }
        verify(3);
    }

    @Test
    void anEncryptedChainCanBeReadWithItsKeyOnly() throws Exception {
        Random random = new Random(10);
        List<FakeProcess> processes = Images.processes(random, 2);
        write(Images.encrypted().withForm(INCREMENTAL.withZstdLevel(3)), processes);
        processes.forEach(process -> process.goOn(random));
        write(Images.encrypted().withForm(INCREMENTAL), processes);
        Images.assertHolds(checkpoint(2), processes);
        try (CheckpointReader reader = CheckpointReader.open(checkpoint(2), Images.KEY)) {
            assertTrue(assertThrows(ImageError.NoKey.class, () -> reader.table("names", Images.Named.class))
                    .getMessage().contains("--encrypt"));
            assertThrows(ImageError.NoKey.class, () -> reader.verify((_, _) -> {}));
        }
        try (CheckpointReader reader =
                CheckpointReader.open(checkpoint(2), Images.KEY.with(EncryptionSecret.of(new byte[32])))) {
            assertTrue(assertThrows(ImageError.NoKey.class, () -> reader.memory(100)).getMessage()
                    .contains("a different key"));
        }
    }
}
