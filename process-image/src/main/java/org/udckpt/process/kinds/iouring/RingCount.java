package org.udckpt.process.kinds.iouring;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;

/**
 * Lets the kernel take as many entries as it had: those of a new ring are zeros, which do nothing (IORING_OP_NOP), and
 * each posts a completion. It takes some 0.1 us for each. The thread that uses the ring does it without a stop for each
 * call, where it sees the ring's memory.
 */
final class RingCount {
    private static final int ENTER_SQ_WAKEUP = 2;
    /** FUTEX_WAKE_OP, of the caller's own memory: with FUTEX_OP_ADD of a shifted 1 it adds a power of two. */
    private static final int WAKE_OP = 5 | 128, ADD_SHIFTED = (1 | 8) << 28;
    private static final long POLLING_NS = TimeUnit.SECONDS.toNanos(10), SPIN_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** So many turns at a time, before it is seen whether they have done something. */
    private static final int TURNS = 1 << 16;

    private final Maker maker;
    private final IoUring ring;
    private final long fd;
    private final int descriptor;
    private final RingMemory memory;

    /**
     * @param fd of the ring in that process
     * @param descriptor of it in this one
     */
    RingCount(Maker maker, IoUring ring, long fd, int descriptor, RingMemory memory) {
        this.maker = maker;
        this.ring = ring;
        this.fd = fd;
        this.descriptor = descriptor;
        this.memory = memory;
    }

    /** @param mapped where the thread sees the queues' memory; 0: nowhere */
    void bring(long mapped) {
        int size = ring.submissions();
        int at = 0;
        if (mapped != 0 && !ring.has(IoUring.SQPOLL)) {
            long turns = Integer.toUnsignedLong(ring.done()) / size;
            List<long[]> turn = List.of(add(mapped + memory.submittedAt(), size),
                    new long[]{Syscall.IO_URING_ENTER, fd, size, 0, 0, 0, 0},
                    add(mapped + memory.consumedAt(), size));
            while (turns > 0) {
                int now = (int) Math.min(turns, TURNS);
                maker.callsInThread(ring.tid(), now, turn);
                at += now * size;
                turns -= now;
                await(at);
            }
        }
        while (at != ring.done()) {
            int next = (int) Math.min(size, Integer.toUnsignedLong(ring.done() - at));
            at += next;
            memory.submitTo(at);
            if (ring.has(IoUring.SINGLE_ISSUER)) {
                maker.callInThread(ring.tid(), "count an io_uring on", Syscall.IO_URING_ENTER, fd, next, 0, 0, 0, 0);
            } else {
                LinuxError.check(Syscall.call(Syscall.IO_URING_ENTER, descriptor, next, 0,
                        ring.has(IoUring.SQPOLL) ? ENTER_SQ_WAKEUP : 0, 0, 0), "io_uring_enter of " + maker.name());
            }
            await(at);
            memory.consumeAll();
        }
    }

    /** A call that adds a power of two to what is at this address. */
    private static long[] add(long address, int power) {
        long operation = Integer.toUnsignedLong(ADD_SHIFTED | Integer.numberOfTrailingZeros(power) << 12);
        return new long[]{Syscall.FUTEX, address, WAKE_OP, 0, 0, address, operation};
    }

    /** A polling thread takes entries when it likes, and posts after it has taken. */
    private void await(int count) {
        for (long begin = 0; memory.taken() != count || memory.posted() != count;) {
            long now = System.nanoTime();
            begin = begin == 0 ? now : begin;
            if (now - begin > POLLING_NS) {
                throw maker.failed("an io_uring has taken %d entries and posted %d completions, and not %d".formatted(
                        Integer.toUnsignedLong(memory.taken()), Integer.toUnsignedLong(memory.posted()),
                        Integer.toUnsignedLong(count)));
            }
            if (now - begin > SPIN_NS) {
                LockSupport.parkNanos(20_000);
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
