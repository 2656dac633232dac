package org.udckpt.job.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.WriteProgress;

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

    private LeadCheckpoints checkpoints(Agreement agreement) throws IOException {
        return new LeadCheckpoints("job", List.of("a", "b"), 2, Map.of(), Settings.load(), new Keeping(directory.resolve("images"), () -> { }, () -> { }), agreement, (writer, stops) -> {
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
        LeadCheckpoints checkpoints = checkpoints(silent);
        CompletableFuture<String> taken = CompletableFuture.supplyAsync(() -> checkpoints.take(message -> { }, true));
        silent.asked.await();
        checkpoints.impossible("it is being ended");
        checkpoints.close();
        assertCutOff(taken);
        assertEquals(List.of(), left());
    }

    /** The same where the coordinator goes a moment before it is asked. */
    @Test
    void aCheckpointThatBeginsBehindTheEndOfTheJobEnds() throws Exception {
        LeadCheckpoints[] checkpoints = new LeadCheckpoints[1];
        CompletableFuture<Void> closed = new CompletableFuture<>();
        Agreement closing = new Agreement() {
            @Override
            public void checkpoint(long number, String order) {
                Thread.ofVirtual().start(() -> {
                    try {
                        checkpoints[0].close();
                        closed.complete(null);
                    } catch (InterruptedException e) {
                        closed.completeExceptionally(e);
                    }
                });
                checkpoints[0].impossible("it is being ended");
            }

            @Override
            public void manifest(long number, String failure) {
                throw new IllegalStateException("no part was written");
            }

            @Override
            public Optional<WriteProgress> written(long number) {
                return Optional.empty();
            }
        };
        checkpoints[0] = checkpoints(closing);
        assertCutOff(CompletableFuture.supplyAsync(() -> checkpoints[0].take(message -> { }, false)));
        closed.get();
        assertEquals(List.of(), left());
    }
}
