package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.CallLoop;

/**
 * System calls that a tracee makes one after the other: its scratch holds the list and receives the results, and
 * {@link CallLoop} behind it goes through them. An injected call costs two stops and four switches between processes; a
 * batch costs one stop, however many calls it has. So all calls are made, also behind one that fails. Where the trap
 * at its end may not come ({@link Tracee#endTraps}), the calls are injected one by one.
 */
final class Batch {
    private static final int ENTRY = CallLoop.ENTRY, RESULT = CallLoop.RESULT;
    private static final int MOST = Tracee.SCRATCH_BYTES / 2 / ENTRY, FIRST = 8;
    /** Arguments in memory: the other half of the scratch. */
    private static final int DATA = MOST * ENTRY, DATA_END = Tracee.SCRATCH_BYTES;

    private record Call(Supplier<String> what, LongPredicate allowed) {}

    private final Tracee tracee;
    private final int thread;
    /** They grow: most batches are small, and a restore makes dozens for each process. */
    private ByteBuffer entries = ByteBuffer.allocate(FIRST * ENTRY).order(ByteOrder.LITTLE_ENDIAN);
    private byte[] values = new byte[FIRST * ENTRY];
    private final List<Call> calls = new ArrayList<>();
    private long[] results = new long[0];
    private int data = DATA;

    Batch(Tracee tracee) {
        this(tracee, tracee.hostPid());
    }

    /** @param thread of the tracee's that makes the calls, as the tracer numbers it */
    Batch(Tracee tracee, int thread) {
        this.tracee = tracee;
        this.thread = thread;
    }

    /**
     * A call that must succeed; {@code what} names it in the error. Returns its place among those of the next
     * {@link #run}.
     */
    int add(Supplier<String> what, long number, long... arguments) {
        return add(what, result -> false, number, arguments);
    }

    /** @param allowed errors, as {@code -errno}, that are none */
    int add(Supplier<String> what, LongPredicate allowed, long number, long... arguments) {
        if (calls.size() == MOST) {
            throw new IllegalStateException("more than " + MOST + " calls at a time: ask full() first");
        }
        int at = calls.size() * ENTRY;
        if (at == entries.capacity()) {
            entries = ByteBuffer.wrap(Arrays.copyOf(entries.array(), 2 * at)).order(ByteOrder.LITTLE_ENDIAN);
        }
        entries.putLong(at, number);
        for (int i = 0; i < 6; i++) {
            entries.putLong(at + 8 + 8 * i, i < arguments.length ? arguments[i] : 0);
        }
        calls.add(new Call(what, allowed));
        return calls.size() - 1;
    }

    /** Address of these bytes in the tracee, until the next {@link #run}. */
    long bytes(byte[] value) {
        int at = data + 15 & -16;
        if (at + value.length > DATA_END) {
            throw new IllegalStateException(value.length + " bytes do not fit in the scratch of process " + tracee.pid()
                    + ": ask full() first");
        }
        data = at + value.length;
        if (data - DATA > values.length) {
            values = Arrays.copyOf(values, Math.max(2 * values.length, data - DATA));
        }
        System.arraycopy(value, 0, values, at - DATA, value.length);
        return tracee.scratch() + at;
    }

    long string(String value) {
        byte[] text = RawText.encode(value);
        return bytes(Arrays.copyOf(text, text.length + 1));
    }

    /** Whether it has to {@link #run} before {@code calls} more are added, with so many bytes. */
    boolean full(int more, int moreBytes) {
        return calls.size() + more > MOST || data + moreBytes + 16 > DATA_END;
    }

    /** Makes the calls, and forgets them. */
    void run() {
        if (calls.isEmpty()) {
            return;
        }
        int length = calls.size() * ENTRY;
        if (data > DATA) {
            tracee.memory().writeBytes(tracee.scratch() + DATA, Arrays.copyOf(values, data - DATA));
        }
        results = new long[calls.size()];
        if (tracee.traps()) {
            together(length);
        } else {
            oneByOne();
        }
        List<Call> made = List.copyOf(calls);
        calls.clear();
        data = DATA;
        for (int i = 0; i < results.length; i++) {
            if (results[i] < 0 && results[i] > -4096 && !made.get(i).allowed.test(results[i])) {
                throw tracee.failed(made.get(i).what.get() + ": " + LinuxError.name((int) -results[i]));
            }
        }
    }

    private void together(int length) {
        tracee.memory().writeBytes(tracee.scratch(), Arrays.copyOf(entries.array(), length));
        tracee.execute(thread, tracee.scratch(), results.length);
        ByteBuffer answers = ByteBuffer.wrap(tracee.read(tracee.scratch(), length)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < results.length; i++) {
            results[i] = answers.getLong(i * ENTRY + RESULT);
        }
    }

    private void oneByOne() {
        for (int i = 0; i < results.length; i++) {
            long[] arguments = new long[6];
            for (int j = 0; j < arguments.length; j++) {
                arguments[j] = entries.getLong(i * ENTRY + 8 + 8 * j);
            }
            results[i] = tracee.tryCallIn(thread, entries.getLong(i * ENTRY), arguments);
        }
    }

    /** A result of the last {@link #run}. */
    long result(int place) {
        return results[place];
    }

    /** Closes a descriptor. */
    void close(long fd) {
        add(() -> "close", Syscall.CLOSE, fd);
    }
}
