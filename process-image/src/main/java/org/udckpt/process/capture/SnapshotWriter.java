package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.SnapshotOrder;
import org.udckpt.layout.Layout.SnapshotRun;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.SelfWriteOrder;

/**
 * Gives orders to a snapshot that runs {@code udckpt_snapshot_writer_2} (snapshot_writer.c), through memory that both
 * have mapped. For one thread at a time.
 */
final class SnapshotWriter {
    private static final VarHandle NUMBER = JAVA_INT.varHandle();
    private static final int FUTEX_WAIT = 0, FUTEX_WAKE = 1;
    /** How often a snapshot that takes its time is asked whether it lives. */
    private static final long LOOK_AFTER = TimeUnit.MILLISECONDS.toNanos(200);

    private final Snapshot snapshot;
    private final MemorySegment order;
    private final int[] files;
    private final MemorySegment timeout = Arena.ofAuto().allocate(16, 8);
    private int last;

    /** @param order mapped in both; freed by the caller; @param files descriptor numbers in the snapshot */
    SnapshotWriter(Snapshot snapshot, MemorySegment order, int[] files) {
        this.snapshot = snapshot;
        this.order = order;
        this.files = files;
        timeout.set(JAVA_LONG, 8, LOOK_AFTER);
    }

    void look(long[] runs, int count, BitSet zeros, long[] hashes) {
        order.set(JAVA_INT, SnapshotOrder.WANTS_HASHES, hashes == null ? 0 : 1);
        carryOut(Layout.ORDER_LOOK, runs, count);
        fill(zeros);
        if (hashes != null) {
            MemorySegment.copy(order, JAVA_LONG, Layout.ORDER_HASHES, hashes, 0, 2 * Layout.ORDER_PAGES);
        }
    }

    private void fill(BitSet zeros) {
        zeros.clear();
        zeros.or(BitSet.valueOf(order.asSlice(SnapshotOrder.ZEROS, Layout.ORDER_PAGES / 8).toArray(JAVA_BYTE)));
    }

    /** XXH3 of what was appended. @throws LinuxError of the file system */
    long append(boolean direct, long[] runs, int count, SelfWriteOrder what) {
        order.set(JAVA_INT, SnapshotOrder.WANTS_DIGEST, what.digest() == null ? 0 : 1);
        order.set(JAVA_INT, SnapshotOrder.WANTS_TAG, what.key() == null ? 0 : 1);
        order.set(JAVA_INT, SnapshotOrder.UNLESS_ZEROS, what.zeros() == null ? 0 : 1);
        order.set(JAVA_INT, SnapshotOrder.FILE, files[what.file()]);
        order.set(JAVA_LONG, SnapshotOrder.OFFSET, what.offset());
        order.set(JAVA_LONG, SnapshotOrder.ROOM_FROM, what.roomFrom());
        order.set(JAVA_LONG, SnapshotOrder.ROOM_TO, what.roomTo());
        if (what.key() != null) {
            MemorySegment.copy(what.key(), 0, order, JAVA_BYTE, SnapshotOrder.KEY, Layout.ORDER_KEY_BYTES);
            MemorySegment.copy(what.seal(), 0, order, JAVA_BYTE, SnapshotOrder.NONCE, Layout.ORDER_NONCE_BYTES);
        }
        carryOut(direct ? Layout.ORDER_APPEND_DIRECT : Layout.ORDER_APPEND, runs, count);
        int error = order.get(JAVA_INT, SnapshotOrder.ERROR);
        if (error != 0) {
            throw new LinuxError("write", error);
        }
        if (what.zeros() != null) {
            fill(what.zeros());
        }
        if (what.digest() != null) {
            MemorySegment.copy(order, JAVA_BYTE, SnapshotOrder.DIGEST, what.digest(), 0, Layout.ORDER_DIGEST_BYTES);
        }
        if (what.key() != null) {
            MemorySegment.copy(order, JAVA_BYTE, SnapshotOrder.TAG, what.seal(), Layout.ORDER_NONCE_BYTES,
                    Layout.ORDER_TAG_BYTES);
        }
        return order.get(JAVA_LONG, SnapshotOrder.HASH);
    }

    private void carryOut(int operation, long[] runs, int count) {
        for (int i = 0; i < count; i += 2) {
            long at = Layout.ORDER_RUNS + (long) i / 2 * SnapshotRun.SIZE;
            order.set(JAVA_LONG, at + SnapshotRun.ADDRESS, runs[i]);
            order.set(JAVA_LONG, at + SnapshotRun.LENGTH, runs[i + 1]);
        }
        order.set(JAVA_INT, SnapshotOrder.OPERATION, operation);
        order.set(JAVA_INT, SnapshotOrder.RUNS, count / 2);
        NUMBER.setRelease(order, (long) SnapshotOrder.ASKED, last + 1);
        futex(SnapshotOrder.ASKED, FUTEX_WAKE, 1, 0);
        while ((int) NUMBER.getAcquire(order, (long) SnapshotOrder.DONE) == last) {
            long result = futex(SnapshotOrder.DONE, FUTEX_WAIT, last, timeout.address());
            if (result == -LinuxError.ETIMEDOUT) {
                snapshot.checkAlive();
            } else if (result != -LinuxError.EAGAIN && result != -LinuxError.EINTR) {
                LinuxError.check(result, "wait for a snapshot");
            }
        }
        last++;
    }

    private long futex(long field, int operation, int value, long until) {
        return Syscall.call(Syscall.FUTEX, order.address() + field, operation, value, until, 0, 0);
    }
}
