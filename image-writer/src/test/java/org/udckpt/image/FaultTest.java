package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.FaultyStorage;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;

/** Every single call to the file system fails, tears or is the last one, in turn. */
@Timeout(300)
class FaultTest {
    /** In memory where there is such a place: durability is simulated here, so real fsyncs only cost time. */
    @TempDir(factory = InMemory.class)
    Path temp;
    private final List<FakeProcess> oldMemory = Images.processes(new Random(1), 2);
    private final List<FakeProcess> newMemory = Images.processes(new Random(2), 2);

    static final class InMemory implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            Path memory = Path.of("/dev/shm");
            return Files.isWritable(memory) ? Files.createTempDirectory(memory, "udckpt-fault")
                    : Files.createTempDirectory("udckpt-fault");
        }
    }

    private interface Check {
        void after(Path parent, FaultyStorage io, IOException error, String where) throws IOException;
    }

    @Test
    void anyFailingCallLeavesTheOldCheckpointAndNothingElse() throws Exception {
        forEveryCall(FaultyStorage.Fault.FAIL, this::onlyTheOldOneIsThere);
    }

    @Test
    void anyTornWriteLeavesTheOldCheckpointAndNothingElse() throws Exception {
        forEveryCall(FaultyStorage.Fault.TEAR, this::onlyTheOldOneIsThere);
    }

    private void onlyTheOldOneIsThere(Path parent, FaultyStorage io, IOException error, String where) throws IOException {
        Catalogue catalogue = new Catalogue(parent, Images.KEY);
        List<Catalogue.Entry> entries = catalogue.list();
        // Failures of the removal itself, and of a close after the commit, are reported and leave what is listed.
        boolean removalFailed = io.log().stream().anyMatch(call -> call.startsWith("delete") && !call.contains("sequence"));
        Catalogue.Entry newest = catalogue.newestComplete().orElseThrow();
        assertEquals(1, newest.id(), where);
        Images.assertHolds(newest.directory(), oldMemory);
        assertTrue(error.getMessage() != null && error.getMessage().contains("injected"), where + ": " + error);
        if (entries.size() > 1) {
            assertEquals(Catalogue.State.INCOMPLETE, entries.get(1).state(), where);
            assertTrue(removalFailed || where.contains(" writer"), where);
        }
    }

    @Test
    void aCrashAtAnyCallLeavesTheOldOrTheNewCheckpoint() throws Exception {
        forEveryCall(FaultyStorage.Fault.CRASH, (parent, io, error, where) -> {
            Catalogue catalogue = new Catalogue(parent, Images.KEY);
            Catalogue.Entry newest = catalogue.newestComplete().orElseThrow();
            Images.assertHolds(newest.directory(), newest.id() == 1 ? oldMemory : newMemory);
            try (CheckpointReader reader = CheckpointReader.open(newest.directory(), Images.KEY)) {
                reader.verify((_, _) -> { });
            }
            assertTrue(newest.id() == 1 || io.log().contains("rename manifest"), where);
            for (Catalogue.Entry entry : catalogue.list()) {
                assertTrue(entry.state() != Catalogue.State.CORRUPT, where + ": " + entry.problem());
            }
            // Life goes on after the crash, under a new number.
            Manifest next = Images.write(parent, Images.options(), oldMemory);
            assertTrue(next.id() > newest.id(), where);
        });
    }

    /** Writes an old checkpoint, then a new one in which one call is hit; for each call that there is. */
    private void forEveryCall(FaultyStorage.Fault fault, Check check) throws IOException {
        long seed = Images.seed("FaultTest." + fault);
        List<FaultyStorage.Site> sites = sites();
        assertTrue(sites.size() > 40, "only " + sites.size() + " calls");
        if (fault == FaultyStorage.Fault.CRASH) {
            // What a crash right after the rename leaves is chance; look at more than one outcome.
            List<String> calls = sites.stream().map(FaultyStorage.Site::call).toList();
            List<FaultyStorage.Site> late = List.copyOf(sites.subList(calls.indexOf("rename manifest"), sites.size()));
            for (int i = 0; i < 7; i++) {
                sites.addAll(late);
            }
        }
        int number = 0;
        for (FaultyStorage.Site site : sites) {
            Path parent = parent(String.valueOf(++number));
            copyOfTheOldOne(parent);
            FaultyStorage io = new FaultyStorage(site, fault, seed + number);
            IOException error = null;
            try (CheckpointWriter writer = CheckpointWriter.create(parent, Images.options().withStorage(io))) {
                Images.fill(writer, newMemory);
                writer.commit(Images.INFO);
            } catch (IOException e) {
                error = e;
            }
            if (!io.hit()) {
                // How many appends a stripe takes depends on the threads' timing.
                assertTrue(site.call().startsWith("append to node-0000.stripe") && site.nth() > 1, site.toString());
                continue;
            }
            String where = fault + " at " + site;
            assertTrue(error != null, where + " went unnoticed");
            check.after(parent, io, error, where);
        }
    }

    private void copyOfTheOldOne(Path parent) throws IOException {
        Path original = temp.resolve("sites/c");
        Files.createDirectories(parent.resolve("ckpt-0001"));
        Files.writeString(parent.resolve(ImageNames.SEQUENCE), "1\n");
        try (var files = Files.list(original.resolve("ckpt-0001"))) {
            for (Path file : files.toList()) {
                Files.copy(file, parent.resolve("ckpt-0001").resolve(file.getFileName()));
            }
        }
    }

    /** The same last name each time: it is part of the names of calls. */
    private Path parent(String place) throws IOException {
        return Files.createDirectory(temp.resolve(place)).resolve("c");
    }

    /** The calls that writing a second checkpoint takes. */
    private List<FaultyStorage.Site> sites() throws IOException {
        Path parent = parent("sites");
        Images.write(parent, Images.options(), oldMemory);
        FaultyStorage io = new FaultyStorage(null, FaultyStorage.Fault.FAIL, 0);
        Images.write(parent, Images.options().withStorage(io), newMemory);
        return io.sites();
    }

    @Test
    void aFailedSyncIsNotTriedAgain() throws Exception {
        List<String> syncs = new ArrayList<>();
        for (FaultyStorage.Site site : sites()) {
            // A directory may be synced again: after a removal, for other names in it.
            if (!site.call().startsWith("sync ") || site.call().startsWith("sync directory")) {
                continue;
            }
            Path parent = parent("s" + syncs.size());
            Images.write(parent, Images.options(), oldMemory);
            FaultyStorage io = new FaultyStorage(site, FaultyStorage.Fault.FAIL, 0);
            assertThrows(IOException.class, () -> Images.write(parent, Images.options().withStorage(io), newMemory));
            syncs.add(site.call());
            assertEquals(1, io.log().stream().filter(site.call()::equals).count(), site + " was tried again");
            assertFalse(io.log().contains("rename manifest"), "committed after a failed " + site);
        }
        assertTrue(syncs.contains("sync node-0000.stripe-00") && syncs.contains("sync manifest.new"), syncs.toString());
    }
}
