package org.udckpt.support.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StandardErrorTest {
    private static final Duration TIMEOUT = Duration.ofMillis(200);

    /** A terminal that can be stopped. */
    private static final class Terminal extends OutputStream {
        final ByteArrayOutputStream shown = new ByteArrayOutputStream();
        private final Semaphore goes = new Semaphore(1);

        void stop() {
            goes.acquireUninterruptibly();
        }

        void goOn() {
            goes.release();
        }

        @Override
        public void write(int one) {
            throw new AssertionError("pieces only");
        }

        @Override
        public void write(byte[] text, int offset, int length) {
            goes.acquireUninterruptibly();
            shown.write(text, offset, length);
            goes.release();
        }

        List<String> lines() {
            return shown.toString(StandardCharsets.UTF_8).lines().toList();
        }
    }

    private final Terminal terminal = new Terminal();
    private final StandardError robust =
            new StandardError(terminal, StandardCharsets.UTF_8, lines -> lines + " left out\n", TIMEOUT);
    private final PrintStream err = new PrintStream(robust, true, StandardCharsets.UTF_8);

    @Test
    void whoSaysSomethingReturnsWhenItIsWritten() {
        for (int i = 0; i < 1000; i++) {
            err.print("ü " + i + "\n");
            assertEquals("ü " + i, terminal.lines().getLast());
        }
    }

    @Test
    void nobodyWaitsForATerminalThatIsStopped() throws Exception {
        err.print("before\n");
        terminal.stop();
        long begin = System.nanoTime();
        CountDownLatch all = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                for (int line = 0; line < 100; line++) {
                    err.print("meanwhile\n");
                }
                all.countDown();
            });
        }
        assertTrue(all.await(20, TimeUnit.SECONDS), "they wait");
        assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(10),
                "all together waited for one timeout only");
        assertFalse(robust.await(Duration.ofMillis(50)));
        terminal.goOn();
        assertTrue(robust.await(Duration.ofSeconds(20)));
        assertEquals(2001, terminal.lines().size());
        err.print("in order again\n");
        assertEquals("in order again", terminal.lines().getLast());
    }

    @Test
    void whatIsTooMuchIsLeftOutAndCounted() throws Exception {
        terminal.stop();
        String line = "x".repeat(1023) + "\n";
        IntStream.range(0, 1000).forEach(i -> err.print(i < 10 ? i + "\n" : line));
        terminal.goOn();
        assertTrue(robust.await(Duration.ofSeconds(20)));
        List<String> lines = terminal.lines();
        assertEquals(IntStream.range(0, 10).mapToObj(Integer::toString).toList(), lines.subList(0, 10));
        int written = lines.size() - 1;
        assertTrue(written >= 256 && written < 300, written + " lines");
        assertEquals(1000 - written + " left out", lines.getLast());
        err.print("and on\n");
        assertEquals("and on", terminal.lines().getLast());
    }

    @Test
    void aThreadThatIsToEndSaysItsLastWordsInOrder() {
        Thread.currentThread().interrupt();
        err.print("last words\n");
        assertEquals(List.of("last words"), terminal.lines());
        assertTrue(Thread.interrupted());
    }
}
