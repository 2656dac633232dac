package org.udckpt.lifecycle.lead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.Unit;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.manifest.HostParts;

/** What the lead makes of units that copy their parts, fail to, are told to end, or are lost. */
@Timeout(60)
class UnitCopiesTest {
    private static final HostParts PARTS = new HostParts(Path.of("/ssd/job"));
    private static final Path COPY = Path.of("/scratch/ckpt-0001");
    private static final Manifest MANIFEST = new Manifest(2, 1, Instant.EPOCH, "x86_64", Manifest.Integrity.SHA256,
            null, 3, 0, 700, 0, 0, 0, null, List.of(), new TreeMap<>(),
            List.of(new Manifest.Node(0, "a"), new Manifest.Node(1, "b"), new Manifest.Node(2, "c")),
            List.of(table("job.job.arrow", 100), table("node-0000.a.arrow", 300), table("node-0001.a.arrow", 200),
                    table("node-0002.a.arrow", 100)));

    private final LinkedBlockingQueue<ControlMessage.ToUnits> told = new LinkedBlockingQueue<>();
    private final List<Long> progress = new ArrayList<>();
    private final UnitCopies copies = new UnitCopies(
            List.of(new Unit("a", "a", 0, 1), new Unit("b", "b", 1, 1), new Unit("c", "c", 2, 1)), Optional.of(PARTS));
    private volatile boolean givenUp;

    private static Manifest.FileEntry table(String name, long length) {
        return Manifest.FileEntry.table(name, length, "0".repeat(64));
    }

    private CompletableFuture<Void> begin() {
        return CompletableFuture.runAsync(() -> {
            try {
                copies.copy(new CheckpointCopy.Order(PARTS, MANIFEST, COPY, () -> givenUp), (done, total) -> {
                    assertEquals(1400, total);
                    progress.add(done);
                });
            } catch (IOException | CancellationException e) {
                throw new CompletionException(e);
            }
        });
    }

    private ControlMessage next() throws InterruptedException {
        return told.poll(30, TimeUnit.SECONDS);
    }

    private void answer(int unit, int round, String failure) {
        copies.copied(unit, new ControlMessage.Copied(round, failure));
    }

    private static String failure(CompletableFuture<Void> copy) {
        return assertThrows(CompletionException.class, copy::join).getCause().getMessage();
    }

    @Test
    void itIsThereWhenAllHaveSaidSo() throws Exception {
        CompletableFuture<Void> copy = begin();
        copies.open(told::add); // the agents come later
        assertEquals(new ControlMessage.Copy(1, PARTS, COPY.toString()), next());
        answer(2, 1, "");
        answer(2, 1, "said twice, and that does not count");
        answer(1, 7, "of another round");
        answer(0, 1, "");
        Thread.sleep(300);
        assertTrue(!copy.isDone());
        answer(1, 1, "");
        copy.join();
        assertEquals(1200, progress.getLast());
        copies.stay(1, Set.of(1L));
        assertEquals(new ControlMessage.Stay(PARTS, 1, Set.of(1L)), next());
    }

    @Test
    void oneThatCannotEndsTheOthers() throws Exception {
        copies.open(told::add);
        CompletableFuture<Void> copy = begin();
        next();
        answer(1, 1, "it is full");
        assertEquals(new ControlMessage.NoCopy(1), next());
        Thread.sleep(300);
        assertTrue(!copy.isDone(), "they may still write");
        answer(0, 1, "given up");
        answer(2, 1, "");
        assertEquals("rank 1 (host b): it is full", failure(copy));
        CompletableFuture<Void> again = begin();
        assertEquals(new ControlMessage.Copy(2, PARTS, COPY.toString()), next());
        answer(1, 1, "late");
        for (int unit = 0; unit < 3; unit++) {
            answer(unit, 2, "");
        }
        again.join();
    }

    @Test
    void itCanBeGivenUp() throws Exception {
        copies.open(told::add);
        CompletableFuture<Void> copy = begin();
        next();
        givenUp = true;
        assertEquals(new ControlMessage.NoCopy(1), next());
        for (int unit = 0; unit < 3; unit++) {
            answer(unit, 1, "given up");
        }
        assertEquals("the copy was abandoned", failure(copy));
    }

    @Test
    void nobodyWaitsForThoseThatAreLost() throws Exception {
        copies.open(told::add);
        CompletableFuture<Void> copy = begin();
        next();
        copies.close("host c has sent no heartbeat for too long");
        copies.close("the job's agents have ended");
        assertEquals("host c has sent no heartbeat for too long", failure(copy));
        assertEquals("host c has sent no heartbeat for too long", failure(begin()), "nor is anybody asked");
        told.clear();
        copies.stay(1, Set.of());
        assertEquals(null, told.poll());
    }
}
