package org.udckpt.job.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.store.Damage;

/** A lead's checkpoints where the coordinator does not do as it is asked. */
@Timeout(60)
class LeadCheckpointsTest {
    @TempDir
    Path directory;

    /** One that has ended: it says nothing more. */
    private static final class Silent implements Agreement {
        private final CountDownLatch asked = new CountDownLatch(1);

        @Override
        public void checkpoint(long number, String order) {
            asked.countDown();
        }

        @Override
        public void manifest(long number, String failure) {
            throw new IllegalStateException("no part was written");
        }

        @Override
        public Optional<WriteProgress> written(long number) {
            return Optional.empty();
        }
    }

    private LeadCheckpoints checkpoints(Agreement agreement, Checkpointer.BeforeNumber beforeNumber) {
        return new LeadCheckpoints("job", List.of("a", "b"), 2, Map.of(), Settings.load(), new Keeping(directory.resolve("images"), beforeNumber, () -> { }, java.util.Optional.empty(), new Damage()), agreement, (writer, stops) -> {
            throw new IllegalStateException("no part was written");
        });
    }

    private static void assertCutOff(CompletableFuture<String> taken) {
        ExecutionException thrown = assertThrows(ExecutionException.class, taken::get);
        Failure failure = assertInstanceOf(Failure.class, thrown.getCause());
        assertEquals(ExitCode.BUSY, failure.code(), failure.getMessage());
    }

    private List<Path> left() throws IOException {
        try (var files = Files.list(directory.resolve("images"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("ckpt-")).toList();
        }
    }

    /** The job has ended between the beginning of a checkpoint and the coordinator's hearing of it. */
    @Test
    void theEndOfTheJobEndsACheckpointThatTheCoordinatorHasNotHeardOf() throws Exception {
        Silent silent = new Silent();
        LeadCheckpoints checkpoints = checkpoints(silent, () -> { });
        CompletableFuture<String> taken = CompletableFuture.supplyAsync(() -> checkpoints.take(message -> { }, true));
        silent.asked.await();
        checkpoints.close();
        assertCutOff(taken);
        assertEquals(List.of(), left());
    }

    /** The ranks of a last checkpoint are ended for one that is durable only. */
    @Test
    void aLastCheckpointThatIsNoneEndsNothing() throws Exception {
        Silent silent = new Silent();
        LeadCheckpoints checkpoints = checkpoints(silent, () -> { });
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<String> taken = CompletableFuture.supplyAsync(() -> checkpoints.takeLast(message -> { }, () -> ended.set(true)));
        silent.asked.await();
        checkpoints.close();
        assertCutOff(taken);
        assertFalse(ended.get());
        assertEquals(List.of(), left());
    }

    /** The same where the coordinator goes a moment before it is asked: nobody knows of the checkpoint yet when its end comes. */
    @Test
    void aCheckpointThatBeginsBehindTheEndOfTheJobEnds() throws Exception {
        LeadCheckpoints[] checkpoints = new LeadCheckpoints[1];
        CompletableFuture<Void> closed = new CompletableFuture<>();
        Silent silent = new Silent();
        checkpoints[0] = checkpoints(silent, () -> {
            checkpoints[0].abandon("it is being ended");
            Thread.ofVirtual().start(() -> {
                try {
                    checkpoints[0].close();
                    closed.complete(null);
                } catch (InterruptedException e) {
                    closed.completeExceptionally(e);
                }
            });
        });
        assertCutOff(CompletableFuture.supplyAsync(() -> checkpoints[0].take(message -> { }, false)));
        assertEquals(0, silent.asked.getCount(), "it had begun");
        closed.get();
        assertEquals(List.of(), left());
    }
}
