package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The job's input over several incarnations: each piece goes to one incarnation, and none is lost between two. */
@Timeout(60)
class StandardInputTest {
    /** An agent's: takes so many pieces, and is gone then. */
    private static final class Taker extends OutputStream {
        private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        private final CountDownLatch closed = new CountDownLatch(1);
        private int left;

        Taker(int pieces) {
            left = pieces;
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int count) throws IOException {
            if (left-- <= 0) {
                throw new IOException("Broken pipe");
            }
            taken.write(bytes, from, count);
            notifyAll();
        }

        @Override
        public void write(int one) {
            throw new AssertionError("byte by byte");
        }

        @Override
        public void close() {
            closed.countDown();
        }

        synchronized String await(int length) throws InterruptedException {
            while (taken.size() < length) {
                wait();
            }
            return taken.toString(StandardCharsets.UTF_8);
        }
    }

    @Test
    void aPieceThatOneIncarnationDoesNotTakeIsTheNextOnes() throws Exception {
        PipedOutputStream user = new PipedOutputStream();
        StandardInput input = new StandardInput(new PipedInputStream(user));
        Taker first = new Taker(1);
        input.to(first);
        type(user, "one");
        assertEquals("one", first.await(3));
        type(user, "two"); // while nobody takes any
        Taker second = new Taker(2);
        input.to(second);
        assertEquals("two", second.await(3));
        type(user, "three");
        assertEquals("twothree", second.await(8));
        user.close();
        assertTrue(second.closed.await(30, TimeUnit.SECONDS), "the end was not passed on");
        Taker third = new Taker(0);
        input.to(third);
        assertTrue(third.closed.await(0, TimeUnit.SECONDS), "there is no more input for a later incarnation");
        assertEquals("one", first.await(3));
    }

    /** The one whose incarnation is over still takes what it is given: it gets no more. */
    @Test
    void whatComesLaterGoesToTheLaterIncarnation() throws Exception {
        PipedOutputStream user = new PipedOutputStream();
        StandardInput input = new StandardInput(new PipedInputStream(user));
        Taker first = new Taker(9), second = new Taker(9);
        input.to(first);
        type(user, "a");
        assertEquals("a", first.await(1));
        input.to(second);
        type(user, "b");
        assertEquals("b", second.await(1));
        assertEquals("a", first.await(1));
    }

    private static void type(PipedOutputStream user, String text) throws IOException {
        user.write(text.getBytes(StandardCharsets.UTF_8));
        user.flush();
    }
}
