package org.udckpt.image.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Images;
import org.udckpt.image.Range;
import org.udckpt.image.WriterMain;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.storage.WatchedStorage;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

@Timeout(180)
class CatalogueTest {
    @TempDir
    Path temp;

    private Path parent() {
        return temp.resolve("c");
    }

    private Catalogue catalogue() {
        return new Catalogue(parent(), Images.KEY);
    }

    private long write() throws IOException {
        return Images.write(parent(), Images.options(), Images.processes(new Random(1), 1)).id();
    }

    private List<String> states() throws IOException {
        return catalogue().list().stream().map(entry -> entry.id() + " " + entry.state()).toList();
    }

    @Test
    void statesAreTold() throws Exception {
        write();
        write();
        Files.delete(parent().resolve("ckpt-0002/node-0000.stripe-00"));
        try (CheckpointWriter writer = CheckpointWriter.create(parent(), Images.options())) {
            assertEquals("ckpt-0003", writer.name());
            assertEquals(List.of("1 COMPLETE", "2 CORRUPT", "3 INCOMPLETE"), states());
            assertTrue(catalogue().list().get(2).inProgress());
            assertEquals(1, catalogue().newestComplete().orElseThrow().id());
        }
        assertEquals(List.of("1 COMPLETE", "2 CORRUPT"), states());
        assertTrue(catalogue().list().get(1).problem().getMessage().contains("node-0000.stripe-00: missing"));
    }

    /** There is no number after the last that a directory's name may have; nothing is made then. */
    @Test
    void theLastNumberIsTheLast() throws Exception {
        write();
        Path sequence = parent().resolve(ImageNames.SEQUENCE);
        String before = Files.readString(sequence);
        Files.writeString(sequence, "999999999999999999\n");
        ImageError.Corrupt error = assertThrows(ImageError.Corrupt.class, this::write);
        assertTrue(error.file().equals(sequence) && error.getMessage().contains("remove the file"), error.getMessage());
        assertEquals("999999999999999999\n", Files.readString(sequence));
        assertEquals(List.of("1 COMPLETE"), states());
        Files.writeString(sequence, before);
        Path last = Files.createDirectory(parent().resolve("ckpt-999999999999999999"));
        error = assertThrows(ImageError.Corrupt.class, this::write);
        assertTrue(error.file().equals(last) && error.getMessage().contains("move it away"), error.getMessage());
        try (var files = Files.list(parent())) {
            assertEquals(4, files.count(), "lock, sequence and the two checkpoints");
        }
        Files.delete(last);
        assertEquals(2, write());
    }

    /** To open a pipe waits for who opens its other end: for ever, and with the lock between threads held. */
    @Test
    void pipesInThePlaceOfFilesAreRefusedByName() throws Exception {
        write();
        for (String name : List.of(ImageNames.LOCK, ImageNames.SEQUENCE, "ckpt-0001/manifest",
                "ckpt-0001/node-0000.chunks.arrow", "ckpt-0001/node-0000.stripe-00")) {
            Path file = parent().resolve(name);
            Path aside = Files.move(file, temp.resolve("aside"));
            assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
            ImageError error = assertTimeoutPreemptively(Duration.ofSeconds(30),
                    () -> name.startsWith("ckpt") ? catalogue().list().getFirst().problem()
                            : assertThrows(ImageError.Corrupt.class, this::write));
            assertTrue(error.getMessage().startsWith(file + ": not a regular file"), error.getMessage());
            Files.move(aside, file, StandardCopyOption.REPLACE_EXISTING);
        }
        Path lock = parent().resolve(ImageNames.LOCK);
        Files.move(lock, temp.resolve("elsewhere"));
        Files.createSymbolicLink(lock, temp.resolve("elsewhere"));
        assertThrows(ImageError.Corrupt.class, () -> catalogue().clean());
        Files.delete(lock);
        Files.delete(parent().resolve("ckpt-0001/manifest"));
        Path writer = parent().resolve("ckpt-0001/writer");
        Files.delete(writer);
        assertEquals(0, new ProcessBuilder("mkfifo", writer.toString()).start().waitFor());
        ImageError error =
                assertTimeoutPreemptively(Duration.ofSeconds(30), () -> catalogue().list().getFirst().problem());
        assertTrue(error.getMessage().contains("writer: not a regular file"), error.getMessage());
    }

    @Test
    void numbersAreNotGivenOutTwice() throws Exception {
        assertEquals(1, write());
        CheckpointWriter.create(parent(), Images.options()).close();
        assertEquals(3, write());
        catalogue().remove(catalogue().newestComplete().orElseThrow());
        assertEquals(4, write());
        // Also when the sequence is lost, as in a copy of the directory.
        Files.delete(parent().resolve(ImageNames.SEQUENCE));
        assertEquals(5, write());
        Files.writeString(parent().resolve(ImageNames.SEQUENCE), "x");
        assertTrue(assertThrows(ImageError.Corrupt.class, this::write).getMessage().contains("remove the file"));
    }

    @Test
    void numbersBeyondFourDigitsSortAsNumbers() throws Exception {
        Files.createDirectory(parent());
        Files.writeString(parent().resolve(ImageNames.SEQUENCE), "9998\n");
        write();
        write();
        assertEquals(List.of("9999 COMPLETE", "10000 COMPLETE"), states());
        assertEquals(10000, catalogue().newestComplete().orElseThrow().id());
    }

    /** Each of a chain names all before it; a list of 200 would otherwise read 20,000 manifests. */
    @Test
    void aLongChainIsListedByReadingEachFileOnce() throws Exception {
        WriterOptions options = Images.options().withForm(ImageForm.PLAIN.withIncremental(true));
        int length = Integer.getInteger("udckpt.chain", 12);
        FakeProcess process = new FakeProcess(1, new Random(1), 1, 4 * length);
        History history = null;
        for (int i = 0; i < length; i++) {
            byte[] memory = process.memory.firstEntry().getValue();
            java.util.Arrays.fill(memory, (byte) (i + 1));
            java.util.Arrays.fill(memory, 0, memory.length * i / length & -Range.PAGE, (byte) 1);
            try (CheckpointWriter writer = CheckpointWriter.create(parent(), options, history)) {
                writer.node(0, "a").memory(1, process.ranges(), process);
                writer.commit(Images.INFO);
                history = writer.history();
            }
        }
        List<Path> opened = new ArrayList<>();
        Catalogue watched = new Catalogue(parent(), Images.KEY, WatchedStorage.of((call, path) -> {
            if (call.equals("open")) {
                opened.add(path);
            }
        }));
        long begin = System.nanoTime();
        List<Catalogue.Entry> list = watched.list();
        System.out.printf("%d checkpoints of a chain listed in %.1f ms, %d files opened%n", length,
                (System.nanoTime() - begin) / 1e6, opened.size());
        assertEquals(length, list.stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE).count());
        assertTrue(list.getLast().manifest().bases().size() > 1, list.getLast().manifest().bases().toString());
        assertEquals(new HashSet<>(opened).size(), opened.size(), "files were read twice");
    }

    @Test
    void pruningKeepsTheNewestComplete() throws Exception {
        for (int i = 0; i < 4; i++) {
            write();
        }
        assertEquals(2, catalogue().prune(2).size());
        assertEquals(List.of("3 COMPLETE", "4 COMPLETE"), states());
        assertEquals(0, catalogue().prune(2).size());
        assertThrows(IllegalArgumentException.class, () -> catalogue().prune(0));
    }

    @Test
    void pruningTwiceAtOnceRemovesEachOnce() throws Exception {
        for (int i = 0; i < 5; i++) {
            write();
        }
        int removed = 0;
        try (var threads = Executors.newFixedThreadPool(3)) {
            Callable<Integer> prune = () -> catalogue().prune(2).size();
            for (var count : threads.invokeAll(List.of(prune, prune, prune))) {
                removed += count.get();
            }
        }
        assertEquals(3, removed);
        assertEquals(List.of("4 COMPLETE", "5 COMPLETE"), states());
    }

    @Test
    void pruningWaitsForTheNewestToVerify() throws Exception {
        write();
        write();
        Path stripe = parent().resolve("ckpt-0002/node-0000.stripe-00");
        try (RandomAccessFile file = new RandomAccessFile(stripe.toFile(), "rw")) {
            int old = file.read();
            file.seek(0);
            file.write(old ^ 1);
        }
        ImageError.Corrupt error = assertThrows(ImageError.Corrupt.class, () -> catalogue().prune(1));
        assertEquals(stripe, error.file());
        assertEquals(List.of("1 COMPLETE", "2 COMPLETE"), states());
        // A corrupt one does not count: the last good one stays.
        Files.delete(stripe);
        assertEquals(0, catalogue().prune(1).size());
        assertEquals(List.of("1 COMPLETE", "2 CORRUPT"), states());
    }

    @Test
    void leftoversOfADeadWriterAreCleaned() throws Exception {
        write();
        Process writer = WriterMain.start(parent(), 0);
        try {
            assertEquals("2", writer.inputReader().readLine());
            assertEquals(List.of("1 COMPLETE", "2 INCOMPLETE"), states());
            assertTrue(catalogue().list().get(1).inProgress());
            assertEquals(List.of(), catalogue().clean());
        } finally {
            writer.destroyForcibly().waitFor();
        }
        assertFalse(catalogue().list().get(1).inProgress());
        assertEquals(1, catalogue().clean().size());
        assertEquals(List.of("1 COMPLETE"), states());
        assertEquals(3, write());
    }

    @Test
    void aWriterOnAnotherMachineIsLeftAlone() throws Exception {
        Path directory = parent().resolve("ckpt-0001");
        Files.createDirectories(directory);
        Files.write(directory.resolve(ImageNames.WRITER),
                new WriterLease("elsewhere", "another-boot", "pid:[1]", 1, 1).encode());
        assertTrue(catalogue().list().getFirst().inProgress());
        assertEquals(List.of(), catalogue().clean());
    }

    @Tag("slow")
    @Test
    void writersInThreadsAndProcessesDoNotCollide() throws Exception {
        List<Process> processes = new ArrayList<>();
        List<Long> ids = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(3)) {
            Files.createDirectory(parent());
            processes.add(WriterMain.start(parent(), 4));
            processes.add(WriterMain.start(parent(), 4));
            List<Callable<Long>> tasks = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                tasks.add(this::write);
            }
            for (var id : threads.invokeAll(tasks)) {
                ids.add(id.get());
            }
            for (Process process : processes) {
                for (int i = 0; i < 4; i++) {
                    String line = process.inputReader().readLine();
                    assertNotNull(line, "a writer ended early");
                    ids.add(Long.parseLong(line));
                }
            }
        } finally {
            for (Process process : processes) {
                process.destroyForcibly().waitFor();
            }
        }
        assertEquals(17, new HashSet<>(ids).size(), ids.toString());
        assertEquals(17,
                catalogue().list().stream().filter(entry -> entry.state() == Catalogue.State.COMPLETE).count());
    }
}
