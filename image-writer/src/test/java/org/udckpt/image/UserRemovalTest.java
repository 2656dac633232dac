package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.catalogue.Obstacle;
import org.udckpt.image.catalogue.UserRemoval;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.FaultyStorage;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.storage.WatchedStorage;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.WriterOptions;

/** Checkpoints that a user has removed, and those that stay all the same. */
@Timeout(120)
class UserRemovalTest {
    private static final Instant TIME = Instant.parse("2026-11-21T00:00:00Z");

    @TempDir
    Path temp;

    private final Random random = new Random(1);
    private final List<FakeProcess> processes = Images.processes(random, 1);

    private Path parent() {
        return temp.resolve("c");
    }

    /** @param history null: it holds everything. @param day when it was taken */
    private History write(String job, History history, int day) throws IOException {
        WriterOptions options = history == null && job.equals("full") ? Images.options() : PruneAndPublishTest.CHAIN;
        try (CheckpointWriter writer = CheckpointWriter.create(parent(), options, history)) {
            Images.fill(writer, processes);
            writer.commit(new CheckpointInfo(1, TIME.plusSeconds(86_400L * day), "x86_64", Map.of("job", job)));
            processes.forEach(process -> process.goOn(random));
            return writer.history();
        }
    }

    private UserRemoval removal() {
        return removal(LocalStorage.INSTANCE);
    }

    private UserRemoval removal(StorageIo io) {
        return new UserRemoval(new Catalogue(parent(), Images.KEY, io));
    }

    private UserRemoval.Outcome prune(int keep, Instant before) throws IOException {
        return removal().prune(keep, before, UserRemovalTest::job, false, UserRemovalTest::readWhole);
    }

    private static String job(Catalogue.Entry entry) {
        return entry.manifest().labels().get("job");
    }

    private static void readWhole(Catalogue.Entry entry) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(entry.directory(), Images.KEY)) {
            reader.verify((_, _) -> {});
        }
    }

    private List<String> states() throws IOException {
        return new Catalogue(parent(), Images.KEY)
                .list()
                .stream()
                .map(entry -> entry.id() + " " + entry.state())
                .toList();
    }

    private static List<Long> removed(UserRemoval.Outcome outcome) {
        return outcome.removed().stream().map(one -> one.entry().id()).toList();
    }

    private static long size(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    @Test
    void whatANewerOneIsBasedOnStays() throws Exception {
        write("heat", write("heat", write("heat", null, 1), 2), 3);
        UserRemoval.Outcome outcome = removal().remove(1, false, false);
        assertEquals(List.of(), outcome.removed());
        Obstacle.Needed needed = assertInstanceOf(Obstacle.Needed.class, outcome.kept().getFirst().why());
        assertEquals(List.of(2L, 3L), needed.newer().stream().map(Catalogue.Entry::id).toList());
        assertEquals(List.of("1 COMPLETE", "2 COMPLETE", "3 COMPLETE"), states());
        long bytes = size(parent().resolve("ckpt-0003"));
        outcome = removal().remove(3, false, false);
        assertEquals(List.of(3L), removed(outcome));
        assertEquals(bytes, outcome.bytes());
        assertFalse(Files.exists(parent().resolve("ckpt-0003")));
        write("heat", null, 4);
        assertEquals(List.of("1 COMPLETE", "2 COMPLETE", "4 COMPLETE"), states(), "its number is not given out again");
    }

    @Test
    void basesGoWithItWhereNothingElseNeedsThem() throws Exception {
        History first = write("heat", null, 1);
        History second = write("heat", first, 2);
        write("heat", second, 3);
        assertEquals(List.of(3L, 2L, 1L), removed(removal().remove(3, true, true)), "what would go");
        assertEquals(3, states().size(), "nothing went");
        write("other", first, 4);
        UserRemoval.Outcome outcome = removal().remove(3, true, false);
        assertEquals(List.of(3L, 2L), removed(outcome));
        assertEquals(1, outcome.kept().getFirst().entry().id());
        assertEquals(List.of("1 COMPLETE", "4 COMPLETE"), states());
        readWhole(new Catalogue(parent(), Images.KEY).newestComplete().orElseThrow());
    }

    @Test
    void whatIsBeingWrittenStays() throws Exception {
        Process writer = WriterMain.start(parent(), 0);
        try {
            writer.inputReader().readLine();
            UserRemoval.Outcome outcome = removal().remove(1, false, false);
            assertTrue(assertInstanceOf(Obstacle.BeingWritten.class, outcome.kept().getFirst().why()).alive());
            assertEquals(List.of(), removed(prune(1, null)));
            assertEquals(List.of("1 INCOMPLETE"), states());
        } finally {
            writer.destroyForcibly().waitFor();
        }
        assertEquals(List.of(1L), removed(removal().remove(1, false, false)), "its writer is dead");
        assertThrows(NoSuchFileException.class, () -> removal().remove(1, false, false));
        assertThrows(NoSuchFileException.class,
                () -> new UserRemoval(new Catalogue(temp.resolve("none"), Images.KEY)).remove(1, false, false));
        assertFalse(Files.exists(temp.resolve("none")));
    }

    /** Whoever reads has what it is based on, too. */
    @Test
    void whatIsBeingReadStays() throws Exception {
        History first = write("heat", null, 1);
        write("heat", first, 2);
        write("full", null, 3);
        try (CheckpointReader reader = CheckpointReader.open(parent().resolve("ckpt-0002"), Images.KEY)) {
            assertInstanceOf(Obstacle.Held.class, removal().remove(2, true, false).kept().getFirst().why());
            write("heat", null, 4);
            UserRemoval.Outcome outcome = prune(1, null);
            assertEquals(List.of(), outcome.removed());
            assertEquals(List.of("Held", "Needed"),
                    outcome.kept().stream().map(one -> one.why().getClass().getSimpleName()).toList());
            reader.verify((_, _) -> {});
        }
        assertEquals(List.of(2L, 1L), removed(prune(1, null)));
    }

    @Test
    void whatIsBeingCopiedStays() throws Exception {
        write("heat", null, 1);
        boolean[] asked = {false};
        StorageIo io = WatchedStorage.of((call, path) -> {
            if (call.equals("create") && path.toString().contains("stripe") && !asked[0]) {
                asked[0] = true;
                assertInstanceOf(Obstacle.Held.class, removal().remove(1, false, false).kept().getFirst().why());
            }
        });
        new CheckpointCopy(
                parent().resolve("ckpt-0001"), temp.resolve("slow"), Images.KEY, RateLimit.NONE, () -> false, io)
                .run((_, _) -> {});
        assertTrue(asked[0]);
        assertEquals(List.of(1L), removed(removal().remove(1, false, false)));
    }

    /** It is neither used half nor removed half: whoever is first has it. */
    @Test
    void whatIsBeingRemovedIsNotOpened() throws Exception {
        write("full", null, 1);
        boolean[] asked = {false};
        StorageIo io = WatchedStorage.of((call, path) -> {
            if (call.equals("delete") && !asked[0]) {
                asked[0] = true;
                ImageError.Missing missing = assertThrows(ImageError.Missing.class,
                        () -> CheckpointReader.open(parent().resolve("ckpt-0001"), Images.KEY));
                assertTrue(missing.getMessage().contains("just removed"), missing.getMessage());
            }
        });
        removal(io).remove(1, false, false);
        assertTrue(asked[0]);
    }

    @Test
    void othersMayHoldItAsWell() throws Exception {
        write("full", null, 1);
        Path manifest = parent().resolve("ckpt-0001/manifest");
        try (Closeable _ = LocalStorage.INSTANCE.hold(manifest)) {
            try (Closeable _ = LocalStorage.INSTANCE.hold(manifest)) {
                assertTrue(LocalStorage.INSTANCE.exclude(manifest).isEmpty());
            }
            assertTrue(LocalStorage.INSTANCE.exclude(manifest).isEmpty(), "to close one hold does not end the other");
        }
        LocalStorage.INSTANCE.exclude(manifest).orElseThrow().close();
        Closeable twice = LocalStorage.INSTANCE.hold(manifest);
        twice.close();
        try (Closeable _ = LocalStorage.INSTANCE.hold(manifest)) { // most likely by the same descriptor
            twice.close();
            assertTrue(LocalStorage.INSTANCE.exclude(manifest).isEmpty(), "closed twice, it ended another one's");
        }
        Files.delete(manifest);
        assertThrows(NoSuchFileException.class, () -> LocalStorage.INSTANCE.hold(manifest));
    }

    @Tag("slow")
    @Test
    void eachJobsNewestStay() throws Exception {
        for (int day = 1; day <= 3; day++) {
            write("full", null, day);
            write("heat", null, day);
        }
        Process writer = WriterMain.start(parent(), 0); // leaves an incomplete one
        writer.inputReader().readLine();
        writer.destroyForcibly().waitFor();
        assertEquals(List.of(1L, 7L), removed(removal().prune(2, null, UserRemovalTest::job, true, _ -> {
            throw new IOException("nothing is read for what would go");
        })).stream().filter(id -> id != 2).toList());
        assertEquals(List.of(2L, 1L, 7L), removed(prune(2, null)));
        assertEquals(List.of(3L),
                removed(prune(1, TIME.plusSeconds(86_400L * 2 + 1))).stream().filter(id -> id != 4).toList(),
                "taken on the second day");
        assertEquals(List.of("5 COMPLETE", "6 COMPLETE"), states());
        assertEquals(List.of(), removed(prune(1, null)));
        assertThrows(IllegalArgumentException.class, () -> prune(0, null));
    }

    @Test
    void youngOnesStay() throws Exception {
        for (int day = 1; day <= 4; day++) {
            write("full", null, day);
        }
        assertEquals(List.of(2L, 1L), removed(prune(1, TIME.plusSeconds(86_400L * 3))));
        assertEquals(List.of("3 COMPLETE", "4 COMPLETE"), states());
    }

    @Test
    void noneGoesForTheSakeOfADamagedOne() throws Exception {
        write("full", null, 1);
        write("full", null, 2);
        try (RandomAccessFile stripe =
                new RandomAccessFile(parent().resolve("ckpt-0002/node-0000.stripe-00").toFile(), "rw")) {
            int first = stripe.read();
            stripe.seek(0);
            stripe.write(first ^ 1);
        }
        assertThrows(ImageError.Corrupt.class, () -> prune(1, null));
        assertEquals(List.of("1 COMPLETE", "2 COMPLETE"), states());
    }

    /** Somebody else removes the newest between the look and the lock. */
    @Test
    void theNewestThatWasReadHasToBeThere() throws Exception {
        write("full", null, 1);
        write("full", null, 2);
        boolean[] done = {false};
        StorageIo io = WatchedStorage.of((call, _) -> {
            if (call.equals("lock") && !done[0]) {
                done[0] = true;
                new Catalogue(parent(), Images.KEY)
                        .remove(new Catalogue(parent(), Images.KEY).newestComplete().orElseThrow());
            }
        });
        assertEquals(List.of(),
                removed(removal(io).prune(1, null, UserRemovalTest::job, false, UserRemovalTest::readWhole)));
        assertEquals(List.of("1 COMPLETE"), states());
    }

    @Test
    void whatCannotBeReadMayNeedIt() throws Exception {
        write("full", null, 1);
        write("full", null, 2);
        ImageKey none = ImageKey.ofReader(Map.of("UDCKPT_KEY_FILE", temp.resolve("none").toString()));
        UserRemoval without = new UserRemoval(new Catalogue(parent(), none));
        Obstacle.Unreadable why =
                assertInstanceOf(Obstacle.Unreadable.class, without.remove(1, false, false).kept().getFirst().why());
        assertEquals(2, why.newer().id());
        assertEquals(2, states().size());
    }

    @Test
    void linksAreNotFollowed() throws Exception {
        write("full", null, 1);
        Files.move(parent().resolve("ckpt-0001"), temp.resolve("ckpt-0001"));
        Files.createSymbolicLink(parent().resolve("ckpt-0001"), temp.resolve("ckpt-0001"));
        assertInstanceOf(Obstacle.Link.class, removal().remove(1, false, false).kept().getFirst().why());
        assertTrue(Files.exists(temp.resolve("ckpt-0001/manifest")));
    }

    /** Whatever call fails: what is listed as complete is whole. */
    @Tag("slow")
    @Test
    void aFailureLeavesNoHalfCheckpoint() throws Exception {
        FaultyStorage counting = new FaultyStorage(null, FaultyStorage.Fault.FAIL, 1);
        chain();
        removal(counting).remove(3, true, false);
        for (FaultyStorage.Site site : counting.sites().stream().filter(site -> !site.call().startsWith("open "))
                .toList()) {
            chain();
            FaultyStorage faulty = new FaultyStorage(site, FaultyStorage.Fault.FAIL, 1);
            long last = new Catalogue(parent(), Images.KEY).newestComplete().orElseThrow().id();
            try {
                removal(faulty).remove(last, true, false);
            } catch (IOException expected) {
                assertTrue(String.valueOf(expected.getMessage()).contains("injected"), expected.toString());
            }
            for (Catalogue.Entry entry : new Catalogue(parent(), Images.KEY).list()) {
                assertTrue(entry.state() != Catalogue.State.CORRUPT, () -> site + ": " + entry);
                if (entry.state() == Catalogue.State.COMPLETE) {
                    readWhole(entry);
                }
            }
            new Catalogue(parent(), Images.KEY).clean();
        }
    }

    private void chain() throws IOException {
        if (Files.isDirectory(parent())) {
            for (Catalogue.Entry entry : new Catalogue(parent(), Images.KEY).list().reversed()) {
                new Catalogue(parent(), Images.KEY).remove(entry);
            }
        }
        write("heat", write("heat", write("heat", null, 1), 2), 3);
    }
}
