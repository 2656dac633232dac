package org.udckpt.image.catalogue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.FaultyStorage;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.write.FakeProcess;

@Timeout(300)
class CheckpointCopyTest {
    @TempDir
    Path temp;
    private Path fast;
    private Path slow;
    private Path source;
    private List<FakeProcess> processes;

    @BeforeEach
    void write() throws Exception {
        fast = temp.resolve("fast");
        slow = temp.resolve("slow");
        processes = Images.processes(new Random(Images.seed("CheckpointCopyTest")), 2);
        Images.write(fast, Images.options(), List.of());
        Images.write(fast, Images.options(), processes);
        source = fast.resolve("ckpt-0002");
    }

    private CheckpointCopy copy(StorageIo io) {
        return new CheckpointCopy(source, slow, Images.KEY, RateLimit.NONE, () -> false, io);
    }

    private void assertWhole(Path checkpoint) throws IOException {
        Images.assertHolds(checkpoint, processes);
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
            reader.verify((_, _) -> {});
        }
    }

    @Test
    void theCopyIsTheCheckpoint() throws Exception {
        long[] last = new long[2];
        copy(LocalStorage.INSTANCE).run((done, total) -> {
            assertTrue(done >= last[0] && done <= total, done + " of " + total);
            last[0] = done;
            last[1] = total;
        });
        assertEquals(last[1], last[0]);
        assertWhole(slow.resolve("ckpt-0002"));
        assertArrayEquals(Files.readAllBytes(source.resolve("manifest")),
                Files.readAllBytes(slow.resolve("ckpt-0002/manifest")));
        copy(LocalStorage.INSTANCE).run((_, _) -> {
            throw new AssertionError("it is there already");
        });
        assertEquals(2, new Catalogue(slow, Images.KEY).latest());
        assertEquals(3, Images.write(slow, Images.options(), processes).id(), "its number is not given out again");
    }

    @Test
    void numbersGoOnAfterThoseOfAnotherTier() throws Exception {
        assertEquals(0, new Catalogue(slow, Images.KEY).latest());
        new Catalogue(slow, Images.KEY).raise(7);
        new Catalogue(slow, Images.KEY).raise(5);
        assertEquals(7, new Catalogue(slow, Images.KEY).latest());
        assertEquals(8, Images.write(slow, Images.options(), processes).id());
    }

    @Test
    void anotherCheckpointOfTheNumberStays() throws Exception {
        Images.write(slow, Images.options(), List.of());
        Images.write(slow, Images.options(), List.of());
        String message = assertThrows(ImageError.Corrupt.class, () -> copy(LocalStorage.INSTANCE).run((_, _) -> {}))
                .getMessage();
        assertTrue(message.contains("another checkpoint with this number"), message);
        assertEquals(2, new Catalogue(slow, Images.KEY).list().size());
        assertThrows(ImageError.Corrupt.class, () -> tiers().list());
    }

    @Test
    void whatIsDamagedIsNotCopied() throws Exception {
        for (String name : List.of("node-0000.stripe-00", "node-0000.chunks.arrow", "job.job.arrow")) {
            flip(source.resolve(name));
            assertThrows(ImageError.Corrupt.class, () -> copy(LocalStorage.INSTANCE).run((_, _) -> {}), name);
            assertEquals(List.of(), new Catalogue(slow, Images.KEY).list(), name);
            flip(source.resolve(name));
        }
        copy(LocalStorage.INSTANCE).run((_, _) -> {});
        assertWhole(slow.resolve("ckpt-0002"));
    }

    private static void flip(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            java.nio.ByteBuffer one = java.nio.ByteBuffer.allocate(1);
            channel.read(one, channel.size() / 2);
            one.put(0, (byte) (one.get(0) ^ 4)).rewind();
            channel.write(one, channel.size() / 2);
        }
    }

    @Test
    void aCopyCanBeGivenUp() throws Exception {
        for (int asks : new int[]{1, 3, 6}) {
            int[] left = {asks};
            CheckpointCopy copy = new CheckpointCopy(source, slow, Images.KEY, RateLimit.NONE, () -> left[0]-- <= 0);
            assertThrows(CancellationException.class, () -> copy.run((_, _) -> {}));
            assertEquals(List.of(), new Catalogue(slow, Images.KEY).list());
        }
    }

    /**
     * Every call fails once, tears once, and is once the last before a crash: the source is unhurt, the copy whole or
     * not there.
     */
    @Tag("slow")
    @Test
    void everyCallMayFail() throws Exception {
        FaultyStorage clean = new FaultyStorage(null, FaultyStorage.Fault.FAIL, 0);
        copy(clean).run((_, _) -> {});
        Set<String> calls = new HashSet<>();
        long seed = Images.seed("CheckpointCopyTest.faults");
        for (FaultyStorage.Fault fault : FaultyStorage.Fault.values()) {
            for (FaultyStorage.Site site : clean.sites()) {
                if (fault == FaultyStorage.Fault.TEAR && !site.canTear()) {
                    continue; // fails, as it does where it is told to
                }
                removeTree(slow);
                FaultyStorage io = new FaultyStorage(site, fault, seed);
                boolean failed = fails(io);
                assertTrue(io.hit(), site.toString());
                calls.add(site.call());
                List<Catalogue.Entry> found =
                        Files.isDirectory(slow) ? new Catalogue(slow, Images.KEY).list() : List.of();
                boolean whole = found.stream().anyMatch(entry -> entry.state() == Catalogue.State.COMPLETE);
                assertFalse(found.stream().anyMatch(entry -> entry.state() == Catalogue.State.CORRUPT),
                        fault + " at " + site + ": " + found);
                if (whole) {
                    assertWhole(slow.resolve("ckpt-0002"));
                } else {
                    assertTrue(failed, fault + " at " + site + " was not told");
                }
                assertWhole(source);
            }
        }
        assertTrue(calls.containsAll(Set.of("append to node-0000.stripe-00", "sync node-0000.stripe-01",
                "rename manifest", "sync directory slow", "sync manifest.new",
                "open node-0000.chunks.arrow", "lock lock")), calls.toString());
    }

    private boolean fails(StorageIo io) {
        try {
            copy(io).run((_, _) -> {});
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private static void removeTree(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (java.nio.file.NoSuchFileException e) {
            return; // it was not made
        }
    }

    private TieredCatalogue tiers() {
        return new TieredCatalogue(List.of(new Tier.Directory("fast", fast), new Tier.Directory("slow", slow)),
                Images.KEY);
    }

    @Test
    void theCatalogueKnowsWhereEachIs() throws Exception {
        Tier inFast = new Tier.Directory("fast", fast);
        Tier inSlow = new Tier.Directory("slow", slow);
        assertEquals(List.of(1L, 2L), tiers().list().entries().stream().map(TieredCatalogue.Entry::id).toList(),
                "slow is not there yet");
        copy(LocalStorage.INSTANCE).run((_, _) -> {});
        TieredCatalogue.Listing listing = tiers().list();
        assertTrue(listing.entries().get(1).completeIn(inFast) && listing.entries().get(1).completeIn(inSlow));
        assertFalse(listing.entries().getFirst().completeIn(inSlow));
        assertEquals(fast.resolve("ckpt-0002"), listing.newestComplete().orElseThrow().best().entry().directory());
        removeTree(fast);
        assertEquals(slow.resolve("ckpt-0002"),
                tiers().list().newestComplete().orElseThrow().best().entry().directory());
        Files.writeString(fast, "not a directory");
        TieredCatalogue.Listing broken = tiers().list();
        assertEquals(Set.of(inFast), broken.unreadable().keySet());
        assertEquals(1, broken.entries().size());
    }
}
