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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.FaultyStorage;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/** Every single call to the file system fails, tears or is the last one, in turn: what was there before stays whole. */
@Timeout(300)
@ParameterizedClass
@EnumSource
class FaultTest {
    enum Form {
        PLAIN(1, Images.options()),
        /** The old checkpoint is based on an older one, the new one on both. */
        CHAIN(2, Images.options().withForm(ImageForm.PLAIN.withIncremental(true))),
        ENCRYPTED_CHAIN(2,
                Images.encrypted().withForm(ImageForm.PLAIN.withIncremental(true).withZstdLevel(ImageForm.ADAPTIVE)));

        private final int old;
        private final WriterOptions options;

        Form(int old, WriterOptions options) {
            this.old = old;
            this.options = options;
        }
    }

    private static final int TRIES = 20;
    @Parameter
    Form form;
    /** In memory where there is such a place: durability is simulated here, so real fsyncs only cost time. */
    @TempDir(factory = InMemory.class)
    Path temp;

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

    @Tag("slow")
    @Test
    void anyFailingCallLeavesTheOldCheckpointAndNothingElse() throws Exception {
        forEveryCall(FaultyStorage.Fault.FAIL, this::onlyTheOldOneIsThere);
    }

    @Test
    void anyTornWriteLeavesTheOldCheckpointAndNothingElse() throws Exception {
        forEveryCall(FaultyStorage.Fault.TEAR, this::onlyTheOldOneIsThere);
    }

    private void onlyTheOldOneIsThere(Path parent, FaultyStorage io, IOException error, String where)
            throws IOException {
        Catalogue catalogue = new Catalogue(parent, Images.SECRET_KEY);
        List<Catalogue.Entry> entries = catalogue.list();
        // Failures of the removal itself, and of a close after the commit, are reported and leave what is listed.
        boolean removalFailed =
                io.log().stream().anyMatch(call -> call.startsWith("delete") && !call.contains("sequence"));
        Catalogue.Entry newest = catalogue.newestComplete().orElseThrow();
        assertEquals(form.old, newest.id(), where);
        theOldOnesAreWhole(parent);
        assertTrue(error.getMessage() != null && error.getMessage().contains("injected"), where + ": " + error);
        if (entries.size() > form.old) {
            assertEquals(Catalogue.State.INCOMPLETE, entries.get(form.old).state(), where);
            assertTrue(removalFailed || where.contains(" writer"), where);
        }
    }

    @Tag("slow")
    @Test
    void aCrashAtAnyCallLeavesTheOldOrTheNewCheckpoint() throws Exception {
        forEveryCall(FaultyStorage.Fault.CRASH, (parent, io, error, where) -> {
            Catalogue catalogue = new Catalogue(parent, Images.SECRET_KEY);
            Catalogue.Entry newest = catalogue.newestComplete().orElseThrow();
            assertWhole(newest.directory(), memory((int) newest.id()));
            theOldOnesAreWhole(parent);
            assertTrue(newest.id() == form.old || io.log().contains("rename manifest"), where);
            for (Catalogue.Entry entry : catalogue.list()) {
                assertTrue(entry.state() != Catalogue.State.CORRUPT, where + ": " + entry.problem());
            }
            // Life goes on after the crash, under a new number.
            Manifest next = Images.write(parent, form.options, memory(1));
            assertTrue(next.id() > newest.id(), where);
        });
    }

    private void theOldOnesAreWhole(Path parent) throws IOException {
        for (int id = 1; id <= form.old; id++) {
            assertWhole(parent.resolve(ImageNames.directory(id)), memory(id));
        }
    }

    private static void assertWhole(Path checkpoint, List<FakeProcess> memory) throws IOException {
        Images.assertHolds(checkpoint, memory);
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
        }
    }

    /** What checkpoint {@code id} holds: each differs a little from the one before. */
    private static List<FakeProcess> memory(int id) {
        Random first = new Random(6);
        List<FakeProcess> processes = List.of(new FakeProcess(100, first, 4, 20), new FakeProcess(101, first, 4, 20));
        Random random = new Random(2);
        for (int i = 1; i < id; i++) {
            processes.forEach(process -> process.goOn(random));
        }
        return processes;
    }

    private History write(Path parent, WriterOptions options, History history, int id) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options, history)) {
            Images.fill(writer, memory(id));
            assertEquals(id > 1 && history != null, !writer.commit(Images.INFO).bases().isEmpty());
            return writer.history();
        }
    }

    private History writeOldOnes(Path parent) throws IOException {
        History history = null;
        for (int id = 1; id <= form.old; id++) {
            history = write(parent, form.options, history, id);
        }
        return history;
    }

    /** Writes the old ones, then a new one in which one call is hit; for each call that there is. */
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
        if (fault == FaultyStorage.Fault.TEAR) {
            sites.removeIf(site -> !site.canTear()); // what cannot be torn fails, as in the other test
        }
        int number = 0;
        for (FaultyStorage.Site site : sites) {
            Path parent;
            FaultyStorage io;
            IOException error;
            int tries = 0;
            do { // how many appends a stripe takes depends on the threads' timing
                parent = parent(String.valueOf(++number));
                History history = writeOldOnes(parent);
                io = new FaultyStorage(site, fault, seed + number);
                error = null;
                try {
                    write(parent, form.options.withStorage(io), history, form.old + 1);
                } catch (IOException e) {
                    error = e;
                }
            } while (!io.hit() && ++tries < TRIES);
            if (!io.hit()) {
                assertTrue(site.call().startsWith("append to node-0000.stripe") && site.nth() > 1, site.toString());
                continue;
            }
            String where = fault + " at " + site;
            assertTrue(error != null, where + " went unnoticed");
            check.after(parent, io, error, where);
        }
    }

    /** The same last name each time: it is part of the names of calls. */
    private Path parent(String place) throws IOException {
        return Files.createDirectory(temp.resolve(place)).resolve("c");
    }

    /** The calls that writing a second checkpoint takes. */
    private List<FaultyStorage.Site> sites() throws IOException {
        Path parent = parent("sites");
        History history = writeOldOnes(parent);
        FaultyStorage io = new FaultyStorage(null, FaultyStorage.Fault.FAIL, 0);
        write(parent, form.options.withStorage(io), history, form.old + 1);
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
            History history = writeOldOnes(parent);
            FaultyStorage io = new FaultyStorage(site, FaultyStorage.Fault.FAIL, 0);
            assertThrows(IOException.class, () -> write(parent, form.options.withStorage(io), history, form.old + 1));
            syncs.add(site.call());
            assertEquals(1, io.log().stream().filter(site.call()::equals).count(), site + " was tried again");
            assertFalse(io.log().contains("rename manifest"), "committed after a failed " + site);
        }
        assertTrue(syncs.contains("sync node-0000.stripe-00") && syncs.contains("sync manifest.new"), syncs.toString());
    }
}
