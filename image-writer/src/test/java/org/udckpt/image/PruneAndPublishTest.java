package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.storage.WatchedStorage;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/** One directory, two writers of chains, each of which prunes: no checkpoint comes to be on a base that goes. */
@Timeout(120)
class PruneAndPublishTest {
    static final WriterOptions CHAIN = Images.options().withForm(ImageForm.PLAIN.withIncremental(true));
    @TempDir
    Path temp;

    private Path parent() {
        return temp.resolve("c");
    }

    private static History write(Path parent, WriterOptions options, History history, List<FakeProcess> processes)
            throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options, history)) {
            Images.fill(writer, processes);
            writer.commit(Images.INFO);
            return writer.history();
        }
    }

    private List<String> states() throws IOException {
        return new Catalogue(parent(), Images.KEY).list().stream().map(entry -> entry.id() + " " + entry.state())
                .toList();
    }

    private static void verify(Path checkpoint) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
            reader.verify((_, _) -> {});
        }
    }

    @Test
    void aCheckpointThatComesWhileOthersArePrunedKeepsItsBases() throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(1), 2);
        History first = write(parent(), CHAIN, null, processes);
        write(parent(), Images.options(), null, processes);
        boolean[] done = {false};
        StorageIo io = WatchedStorage.of((call, _) -> {
            if (call.equals("lock") && !done[0]) { // the pruner has looked around, and is about to remove
                done[0] = true;
                write(parent(), CHAIN, first, processes);
            }
        });
        assertEquals(List.of(), new Catalogue(parent(), Images.KEY, io).prune(1));
        assertTrue(done[0]);
        assertEquals(List.of("1 COMPLETE", "2 COMPLETE", "3 COMPLETE"), states());
        verify(parent().resolve("ckpt-0003"));
        write(parent(), Images.options(), null, processes);
        assertEquals(List.of(3L, 2L, 1L),
                new Catalogue(parent(), Images.KEY).prune(1).stream().map(Catalogue.Entry::id).toList());
    }

    @Test
    void whoPrunedMoreMeanwhileIsFollowed() throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(1), 1);
        for (int i = 0; i < 4; i++) {
            write(parent(), Images.options(), null, processes);
        }
        boolean[] done = {false};
        StorageIo io = WatchedStorage.of((call, _) -> {
            if (call.equals("lock") && !done[0]) {
                done[0] = true;
                write(parent(), Images.options(), null, processes);
                new Catalogue(parent(), Images.KEY).prune(1);
            }
        });
        assertEquals(List.of(), new Catalogue(parent(), Images.KEY, io).prune(2),
                "what was verified is gone: nothing goes for its sake");
        assertEquals(List.of("5 COMPLETE"), states());
    }

    @Test
    void basesAreLookedAtUnderTheLockUnderWhichTheNameIsGiven() throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(1), 2);
        History first = write(parent(), CHAIN, null, processes);
        List<String> calls = new ArrayList<>();
        write(parent(), CHAIN.withStorage(watched(parent(), calls)), first, processes);
        assertHeld(calls);
        Path slow = temp.resolve("slow");
        for (long id : new long[]{1, 2}) {
            calls.clear();
            new CheckpointCopy(parent().resolve(ImageNames.directory(id)), slow, Images.KEY, RateLimit.NONE,
                    () -> false, watched(slow, calls)).run((_, _) -> {});
        }
        assertHeld(calls);
    }

    private static StorageIo watched(Path parent, List<String> calls) {
        return WatchedStorage.of((call, path) -> {
            synchronized (calls) {
                calls.add((held(parent) ? "held " : "") + call + " " + parent.relativize(path));
            }
        });
    }

    /** By this process, as /proc/locks says (proc_locks(5)): to open and close the file would take the lock away. */
    private static boolean held(Path parent) throws IOException {
        Path lock = parent.resolve(ImageNames.LOCK);
        if (Files.notExists(lock)) {
            return false;
        }
        String file = ":" + Files.getAttribute(lock, "unix:ino") + " ";
        return Files.readAllLines(Path.of("/proc/locks")).stream()
                .anyMatch(line -> line.contains(file) && line.contains(" " + ProcessHandle.current().pid() + " "));
    }

    private static void assertHeld(List<String> calls) {
        int locked = calls.lastIndexOf("lock lock");
        assertEquals("held rename ckpt-0002/manifest",
                calls.stream().filter(call -> call.endsWith("rename ckpt-0002/manifest")).findFirst().orElseThrow());
        List<String> after = calls.subList(locked + 1, calls.size());
        assertTrue(after.contains("held open ckpt-0001/manifest"), "the base was looked at before the lock: " + calls);
        assertTrue(after.contains("held syncDirectory ckpt-0002"), calls.toString());
    }

    /** In two processes and two threads, which are killed or go on: whatever is listed as complete is. */
    @Tag("slow")
    @Test
    void writersThatPruneDoNotTakeEachOthersBases() throws Exception {
        Random random = new Random(Images.seed("PruneAndPublishTest"));
        for (int round = 0; round < 3; round++) {
            Process other = WriterMain.start(parent(), "chain", 8 + round);
            try {
                long id = Long.parseLong(other.inputReader().readLine());
                assertTrue(id > 0);
                chain(parent(), random.nextLong(), 6, _ -> {});
                if (round == 0) {
                    assertEquals(0, other.waitFor(), "the other writer failed");
                }
            } finally {
                other.destroyForcibly().waitFor();
            }
            new Catalogue(parent(), Images.KEY).clean();
            for (Catalogue.Entry entry : new Catalogue(parent(), Images.KEY).list()) {
                assertEquals(Catalogue.State.COMPLETE, entry.state(), entry.name() + ": " + entry.problem());
                verify(entry.directory());
            }
        }
    }

    /**
     * Writes a chain and prunes after each; a base that another writer has pruned fails one checkpoint, and the next
     * holds everything.
     */
    static void chain(Path parent, long seed, int count, java.util.function.LongConsumer written) throws IOException {
        Random random = new Random(seed);
        List<FakeProcess> processes = Images.processes(random, 1);
        History history = null;
        for (int i = 0; i < count; i++) {
            try {
                history = write(parent, CHAIN, history, processes);
                written.accept(history.newest());
            } catch (ImageError.Missing gone) {
                history = null;
            }
            try {
                new Catalogue(parent, Images.KEY).prune(1);
            } catch (ImageError.Missing goneMeanwhile) {
                // The other one pruned what was about to be read whole: then nothing goes here.
            }
            processes.forEach(process -> process.goOn(random));
        }
    }
}
