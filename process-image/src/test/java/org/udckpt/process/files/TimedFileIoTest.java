package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A file system that hangs does not hold the job for ever. */
@Timeout(120)
class TimedFileIoTest {
    @Test
    void whatHangsIsLeftAloneAndNamed() throws Exception {
        TimedFileIo timed = new TimedFileIo(Duration.ofMillis(20), at -> "it was at " + at);
        CountDownLatch server = new CountDownLatch(1);
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        FilesRefused refused = assertThrows(FilesRefused.class, () -> timed.with(() -> {
            timed.at("/net/gone/file");
            awaitUninterruptibly(server);
            end.complete(assertThrows(FilesRefused.class, () -> timed.at("/net/gone/next")));
        }));
        assertTrue(refused.getMessage().contains("it was at /net/gone/file"), refused.getMessage());
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        timed.afterwards(() -> closed.complete(end.isDone()));
        assertFalse(closed.isDone(), "what the work still uses was closed");
        server.countDown();
        assertTrue(closed.get(), "closed before the work had ended");
    }

    @Test
    void whatFailsFailsAsItself() {
        IllegalStateException failure = new IllegalStateException("no");
        assertSame(failure, assertThrows(IllegalStateException.class,
                () -> new TimedFileIo(Duration.ofMinutes(1), at -> at).with(() -> {
                    throw failure;
                })));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
