package org.udckpt.lifecycle.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.lifecycle.interval.CheckpointCost;
import org.udckpt.store.ImageOptions;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.WriteProgress;

/** One checkpoint at a time, attempts, and who hears of what, over a method that the test drives. */
@Timeout(60)
class CheckpointQueueTest {
    private static final Progress SILENT = message -> {};

    @TempDir
    Path directory;
    private final List<String> events = new ArrayList<>();
    private final Method method = new Method();
    private CheckpointQueue queue;

    private void start() {
        queue = new CheckpointQueue("job", Settings.load(), directory.resolve("images"), method,
                () -> events.add("kept"));
        queue.onTaken(taken -> events.add("taken " + taken.id()));
    }

    /** Writes real checkpoints without memory; fails as often as it is told. */
    private final class Method implements CheckpointMethod {
        private int failures;
        private boolean retryable;
        private boolean possible = true;
        private CountDownLatch writes = new CountDownLatch(0);
        private volatile Phase phase;

        @Override
        public boolean possible() {
            return possible;
        }

        @Override
        public Phase phase() {
            return phase;
        }

        @Override
        public Optional<WriteProgress> writing() {
            return Optional.empty();
        }

        @Override
        public RunStatistics statistics() {
            return new RunStatistics();
        }

        @Override
        public void awaitReady(Progress progress) {}

        @Override
        public CheckpointAttempt begin(Progress progress, StopOptions stop) throws IOException {
            phase = Phase.WRITE;
            return new Attempt(CheckpointWriter.create(directory.resolve("images"), ImageOptions.of(Settings.load())));
        }

        @Override
        public boolean retryable(Exception failure) {
            return retryable;
        }

        @Override
        public void idle() {
            phase = null;
        }

        @Override
        public void jobEnded() {
            events.add("job ended");
        }

        @Override
        public void close() {}
    }

    private final class Attempt implements CheckpointAttempt {
        private final CheckpointWriter writer;

        Attempt(CheckpointWriter writer) {
            this.writer = writer;
        }

        @Override
        public String id() {
            return writer.name();
        }

        @Override
        public CompleteCheckpoint write(Runnable end) throws IOException, InterruptedException {
            method.writes.await();
            if (method.failures-- > 0) {
                throw new IOException("the disk is full");
            }
            Manifest manifest = writer.commit(new CheckpointInfo(1, Instant.now(), "x86_64", Map.of()));
            if (end != null) {
                end.run();
            }
            return new CompleteCheckpoint(manifest, 0, List.of(), List.of(1L),
                    CheckpointCost.of(1, 1, OptionalDouble.empty()), "done");
        }

        @Override
        public CompletableFuture<Void> abandon() {
            throw new IllegalStateException("threads can be had");
        }

        @Override
        public void close() {
            try {
                writer.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            events.add("closed " + writer.name());
        }
    }

    @Test
    void whoWaitsHearsOfACompleteCheckpointBehindTheOthers() {
        start();
        assertEquals("ckpt-0001", queue.take(message -> events.add(message), true));
        assertEquals(List.of("closed ckpt-0001", "taken ckpt-0001", "done", "kept"), events);
        assertEquals("running", queue.state());
        assertFalse(queue.busy());
    }

    @Test
    void aSecondOneIsRefusedUntilTheFirstIsDurable() throws Exception {
        start();
        method.writes = new CountDownLatch(1);
        assertEquals("ckpt-0001", queue.take(SILENT, false));
        Failure busy = assertThrows(Failure.class, () -> queue.take(SILENT, true));
        assertEquals(ExitCode.BUSY, busy.code());
        assertTrue(busy.getMessage().contains("in progress (write)"), busy.getMessage());
        method.writes.countDown();
        queue.close();
        assertEquals(List.of("job ended", "closed ckpt-0001", "taken ckpt-0001", "kept"), events);
    }

    @Test
    void whatMaySucceedIsTriedAgainFourTimes() {
        start();
        method.retryable = true;
        method.failures = 3;
        assertEquals("ckpt-0004", queue.take(SILENT, true));
        assertEquals(4, events.stream().filter(event -> event.startsWith("closed")).count(), events::toString);
        method.failures = 4;
        assertThrows(Failure.class, () -> queue.take(SILENT, true));
        assertFalse(queue.busy());
    }

    @Test
    void aFailureSaysWhetherTheJobGoesOn() {
        start();
        method.failures = 2;
        Failure first = assertThrows(Failure.class, () -> queue.take(SILENT, true));
        assertTrue(first.getMessage().endsWith("the disk is full; the job goes on"), first.getMessage());
        method.possible = false;
        Failure second = assertThrows(Failure.class, () -> queue.take(SILENT, true));
        assertTrue(second.getMessage().endsWith("the disk is full"), second.getMessage());
    }

    @Test
    void theRanksOfALastCheckpointEndWhenItIsDurableOnly() {
        start();
        method.failures = 1;
        assertThrows(Failure.class, () -> queue.takeLast(SILENT, () -> events.add("end")));
        assertFalse(events.contains("end"));
        queue.takeLast(SILENT, () -> events.add("end"));
        assertTrue(events.indexOf("end") < events.indexOf("taken ckpt-0002"), events::toString);
    }
}
