package org.udckpt.lifecycle.checkpoint;

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
import org.udckpt.store.Damage;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.WriteProgress;

/** A lead's checkpoints where the coordinator does not do as it is asked. */
@Timeout(60)
class CoordinatedCheckpointsTest {
    @TempDir
    Path directory;

    /** A client that has ended: it sends nothing more. */
    private static final class Silent implements CoordinatorClient {
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

    private CoordinatedCheckpoints coordinated(CoordinatorClient agreement, BeforeNumber beforeNumber) {
        return new CoordinatedCheckpoints("job", List.of("a", "b"), 2, Map.of(), Settings.load(),
                destination(beforeNumber), agreement, (writer, stops) -> {
                    throw new IllegalStateException("no part was written");
                });
    }

    private CheckpointDestination destination(BeforeNumber beforeNumber) {
        return new CheckpointDestination(directory.resolve("images"), beforeNumber, () -> {}, Optional.empty(),
                new Damage());
    }

    private CheckpointQueue queue(CheckpointMethod method) {
        return new CheckpointQueue("job", Settings.load(), directory.resolve("images"), method, () -> {});
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
        CheckpointQueue checkpoints = queue(coordinated(silent, () -> {}));
        CompletableFuture<String> taken = CompletableFuture.supplyAsync(() -> checkpoints.take(message -> {}, true));
        silent.asked.await();
        checkpoints.close();
        assertCutOff(taken);
        assertEquals(List.of(), left());
    }

    /** The ranks of a last checkpoint are ended for one that is durable only. */
    @Test
    void aLastCheckpointThatIsNoneEndsNothing() throws Exception {
        Silent silent = new Silent();
        CheckpointQueue checkpoints = queue(coordinated(silent, () -> {}));
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<String> taken =
                CompletableFuture.supplyAsync(() -> checkpoints.takeLast(message -> {}, () -> ended.set(true)));
        silent.asked.await();
        checkpoints.close();
        assertCutOff(taken);
        assertFalse(ended.get());
        assertEquals(List.of(), left());
    }

    /**
     * The same where the coordinator goes a moment before it is asked: nobody knows of the checkpoint yet when its end
     * comes.
     */
    @Test
    void aCheckpointThatBeginsBehindTheEndOfTheJobEnds() throws Exception {
        CoordinatedCheckpoints[] coordinated = new CoordinatedCheckpoints[1];
        CheckpointQueue[] checkpoints = new CheckpointQueue[1];
        CompletableFuture<Void> closed = new CompletableFuture<>();
        Silent silent = new Silent();
        coordinated[0] = coordinated(silent, () -> {
            coordinated[0].abandon("it is being ended");
            Thread.ofVirtual().start(() -> {
                try {
                    checkpoints[0].close();
                    closed.complete(null);
                } catch (InterruptedException e) {
                    closed.completeExceptionally(e);
                }
            });
        });
        checkpoints[0] = queue(coordinated[0]);
        assertCutOff(CompletableFuture.supplyAsync(() -> checkpoints[0].take(message -> {}, false)));
        assertEquals(0, silent.asked.getCount(), "it had begun");
        closed.get();
        assertEquals(List.of(), left());
    }
}
