package org.udckpt.store.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Range;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.Courtesy;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.store.Tiers;

/** Small checkpoints that are copied from directory to directory. */
@Timeout(300)
class TierFlushTest extends TierFixture {
    /** A chain: each changes one page of the memory, and is based on those before. */
    private History chain(History history, int change) throws IOException {
        WriterOptions incremental = options.withForm(ImageForm.PLAIN.withIncremental(true));
        try (CheckpointWriter writer = CheckpointWriter.create(tiers.fast().path(), incremental, history)) {
            writer.node(0, "a").memory(1, List.of(new Range(0, MEMORY)), (address, into) -> {
                for (long page = 0; page < into.byteSize(); page += Range.PAGE) {
                    long number = (address + page) / Range.PAGE;
                    into.set(ValueLayout.JAVA_LONG, page, number < change ? 1000 + number : 1 + number);
                }
                return into.byteSize();
            });
            writer.commit(CheckpointInfo.now(1, Map.of()));
            return writer.history();
        }
    }

    /** Bases first, also those that were overtaken; and they stay on fast as long as one needs them. */
    @Test
    void basesGoFirst() throws Exception {
        History history = null;
        for (int i = 0; i < 3; i++) {
            history = chain(history, i);
        }
        drainAndPrune(0);
        assertTiers(List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"), List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"));
        chain(null, 7);
        drainAndPrune(1);
        assertTiers(List.of("ckpt-0004"), List.of("ckpt-0004"));
    }

    /** A copy that is the original would make the older ones look as if they might go. */
    @Test
    void twoNamesOfOneDirectoryAreNoTiers() throws Exception {
        Files.createDirectory(temp.resolve("fast"));
        Files.createSymbolicLink(temp.resolve("slow"), temp.resolve("fast"));
        for (int i = 0; i < 3; i++) {
            write();
        }
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG)) {
            flush.ask();
            while (flush.state().problem().isEmpty()) {
                Thread.sleep(5);
            }
            assertTrue(flush.state().problem().contains("same directory"), flush.state().toString());
        }
        assertEquals(List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"), complete(tiers.fast().path()));
    }

    /** The next checkpoint must not be based on what could not be copied, since it is not what was written. */
    @Test
    void whatIsFoundDamagedIsTold() throws Exception {
        chain(chain(null, 0), 1);
        try (RandomAccessFile stripe =
                new RandomAccessFile(tiers.fast().path().resolve("ckpt-0001/node-0000.stripe-00").toFile(), "rw")) {
            stripe.seek(2 * Range.PAGE);
            stripe.write(0x55);
        }
        TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG);
        flush.close();
        String told = flush.damage().take().orElseThrow();
        assertTrue(told.contains("ckpt-0001/node-0000.stripe-00"), told);
        assertTrue(flush.damage().take().isEmpty(), "told once");
    }

    /** Twenty links of a chain, each based on all before: in a moment, not in a million steps. */
    @Test
    void aLongChainThatWasLeftIsCopiedOnce() throws Exception {
        History history = null;
        for (int i = 0; i < 20; i++) {
            history = chain(history, i);
        }
        drainAndPrune(0);
        assertEquals(20, complete(tiers.slow().path()).size());
    }

    private void drainAndPrune(int keep) throws InterruptedException {
        try (TierFlush flush = TierFlush.start(tiers, options, keep, 1, LONG)) {
            flush.ask();
        }
    }

    @Test
    void eachIsCopiedAndTheNewestStaysOnFast() throws Exception {
        try (TierFlush flush = TierFlush.start(tiers, options, 2, 1, LONG)) {
            for (int i = 1; i <= 4; i++) {
                String id = write();
                flush.ask();
                await(flush, id);
            }
        }
        assertTiers(List.of("ckpt-0004"), List.of("ckpt-0003", "ckpt-0004"));
    }

    @Test
    void moreMayStayOnFast() throws Exception {
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 2, LONG)) {
            for (int i = 1; i <= 3; i++) {
                String id = write();
                flush.ask();
                await(flush, id);
            }
        }
        assertTiers(List.of("ckpt-0002", "ckpt-0003"), List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"));
    }

    /**
     * What an earlier incarnation left is copied; only the newest, and the end waits for it. Nothing goes before this
     * incarnation has a checkpoint.
     */
    @Test
    void theNewestFirstAndTheOvertakenNotAtAll() throws Exception {
        write();
        write();
        write();
        TierFlush.start(tiers, options, 0, 1, LONG).close();
        assertTiers(List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"), List.of("ckpt-0003"));
        drainAndPrune(0);
        assertTiers(List.of("ckpt-0003"), List.of("ckpt-0003"));
    }

    @Test
    void aSlowTierThatFailsLosesNothing() throws Exception {
        Files.writeString(tiers.slow().path(), "not a directory");
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG)) {
            write();
            flush.ask();
            awaitProblem(flush, "ckpt-0001");
            assertTrue(flush.state().problem().endsWith(": not a directory: " + tiers.slow().path()),
                    flush.state().problem());
            write();
            flush.ask();
            awaitProblem(flush, "ckpt-0002");
            assertTiers(List.of("ckpt-0001", "ckpt-0002"), List.of());
            Files.delete(tiers.slow().path());
            String id = write();
            flush.ask();
            await(flush, id);
            assertEquals("", flush.state().problem());
        }
        assertTiers(List.of("ckpt-0003"), List.of("ckpt-0003"));
    }

    /** Nobody else would try, and the agents that can read it are still there. */
    @Test
    void whatFailedIsTriedAgainAtTheEnd() throws Exception {
        Files.writeString(tiers.slow().path(), "not a directory");
        TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG);
        write();
        flush.ask();
        awaitProblem(flush, "ckpt-0001");
        Files.delete(tiers.slow().path());
        flush.close();
        assertEquals("", flush.state().problem());
        assertTiers(List.of("ckpt-0001"), List.of("ckpt-0001"));
        flush.close(); // is nothing
    }

    /** Jobs whose hosts have parts of their own share tiers: each copies and prunes its own. */
    @Test
    void anotherJobsAreNotItsToDrainOrToPrune() throws Exception {
        write("a");
        write("b");
        write("b");
        write("a"); // not copied yet by its own
        try (TierFlush flush = TierFlush.start(tiers, options, 1, 1, LONG, hostsOf("b"))) {
            flush.ask();
            await(flush, "ckpt-0003");
            write("b");
            flush.ask();
            await(flush, "ckpt-0005");
        }
        assertTiers(List.of("ckpt-0001", "ckpt-0004", "ckpt-0005"), List.of("ckpt-0005"));
        try (TierFlush flush = TierFlush.start(tiers, options, 1, 1, LONG, hostsOf("a"))) {
            flush.ask();
        }
        assertTiers(List.of("ckpt-0004", "ckpt-0005"), List.of("ckpt-0004", "ckpt-0005"));
    }

    /** The same where one process has all ranks, or the fast tier is shared. */
    @Test
    void anotherJobsOnSharedTiersAreNotItsEither() throws Exception {
        write("a");
        write("b");
        write("b");
        write("a");
        PartHosts own = PartHosts.none(entry -> entry.manifest().labels().get("job").equals("b"));
        try (TierFlush flush = TierFlush.start(tiers, options, 1, 1, LONG, own)) {
            flush.ask();
            await(flush, "ckpt-0003");
            write("b");
            flush.ask();
            await(flush, "ckpt-0005");
        }
        assertTiers(List.of("ckpt-0001", "ckpt-0004", "ckpt-0005"), List.of("ckpt-0005"));
    }

    /** As UnitCopies, of a job whose checkpoints are all there as a whole. */
    private PartHosts hostsOf(String job) {
        return new PartHosts() {
            @Override
            public Optional<HostParts> own() {
                return Optional.of(PartHosts.parts(tiers.fast().path(), job));
            }

            @Override
            public boolean owns(Catalogue.Entry complete) {
                return complete.manifest().labels().get("job").equals(job);
            }

            @Override
            public void stay(long newest, Set<Long> checkpoints) {
                throw new AssertionError("there are no parts");
            }

            @Override
            public void copy(CheckpointCopy.Order order, CheckpointCopy.Progress done) {
                throw new AssertionError("there are no parts");
            }
        };
    }

    /** Two leads on two machines have given out one number. */
    @Test
    void anotherCheckpointOfThatNumberIsNoCopy() throws Exception {
        Tiers here = Tiers.parse("local=" + temp.resolve("fast") + ",slow=" + temp.resolve("slow")).orElseThrow();
        write("a");
        TierFlush.start(here, options, 0, 1, LONG).close();
        Files.move(temp.resolve("fast"), temp.resolve("first"));
        write("b");
        // as if its hosts had the parts
        PartHosts.parts(temp.resolve("fast"), "b").write(temp.resolve("fast/ckpt-0001"), LocalStorage.INSTANCE);
        Catalogue.Entry second = new Catalogue(temp.resolve("fast"), options.key()).list().getFirst();
        String message = assertThrows(IOException.class,
                () -> new TierCopy(here, options, hostsOf("b"), () -> false).copy(second, TierCopy.Watch.NONE))
                .getMessage();
        assertTrue(message.contains("has a different checkpoint with this number"), message);
    }

    /** An agent that was killed while it copied: half a file, a lease of a process that is gone, and no manifest. */
    @Test
    void whatADeadDrainLeftIsCleaned() throws Exception {
        Path half = tiers.slow().path().resolve(write());
        Files.createDirectories(half);
        Files.copy(tiers.fast().path().resolve("ckpt-0001/job.phases.arrow"), half.resolve("job.phases.arrow"));
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        String lease = Files.readString(tiers.fast().path().resolve("ckpt-0001/writer"));
        Files.writeString(half.resolve("writer"),
                lease.replace(" " + ProcessHandle.current().pid() + " ", " " + gone.pid() + " "));
        drainAndPrune(0);
        assertTiers(List.of("ckpt-0001"), List.of("ckpt-0001"));
    }

    /** Checkpoints that wait for a slow tier do not fill the fast one beyond the number that the user wants. */
    @Test
    void keepBoundsWhatWaits() throws Exception {
        Files.writeString(tiers.slow().path(), "not a directory");
        try (TierFlush flush = TierFlush.start(tiers, options, 2, 1, LONG)) {
            for (int i = 1; i <= 4; i++) {
                write();
                flush.ask();
                String oldest = "ckpt-%04d".formatted(i - 2);
                while (complete(tiers.fast().path()).contains(oldest)) {
                    Thread.sleep(5);
                }
            }
        }
        assertTiers(List.of("ckpt-0003", "ckpt-0004"), List.of());
    }

    /** At a byte a second it would take a day. */
    @Test
    void theEndWaitsNoLongerThanItsTimeout() throws Exception {
        write();
        TierFlush slow = TierFlush.start(tiers, options.withCourtesy(new Courtesy(RateLimit.of(1), false)), 0, 1,
                Duration.ofMillis(300));
        long begin = System.nanoTime();
        slow.close();
        assertTrue(System.nanoTime() - begin < LONG.toNanos());
        assertEquals("abandoned", slow.state().problem());
        assertTiers(List.of("ckpt-0001"), List.of());
        assertEquals(List.of(), new Catalogue(tiers.slow().path(), options.key()).list(), "what was begun is removed");
    }
}
