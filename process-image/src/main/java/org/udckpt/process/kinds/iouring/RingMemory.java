package org.udckpt.process.kinds.iouring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappedMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** A ring's memory, mapped in this process: the queues' heads and tails, and their entries. */
final class RingMemory implements AutoCloseable {
    /** struct io_uring_params: its size, and where the offsets of both queues begin. */
    static final int PARAMETERS = 120, OFFSETS = 40;
    private static final int SETUP_FLAGS = 8;
    /** Places within the offsets, as bytes: of the submission queue, and of the completion queue behind it. */
    private static final int SQ_HEAD = 0, SQ_TAIL = 4, SQ_FLAGS = 16, SQ_DROPPED = 20, SQ_ARRAY = 24, CQ = 40,
            CQ_HEAD = CQ, CQ_TAIL = CQ + 4, CQES = CQ + 20;
    private static final int PAGE = 4096, SQE = 64, CQE = 16;
    private static final long ENTRIES_AT = 0x1000_0000L; // IORING_OFF_SQES
    /** IORING_SQ_CQ_OVERFLOW */
    private static final int OVERFLOW = 1 << 1;

    private final Arena arena = Arena.ofShared();
    private final ByteBuffer offsets;
    private final MemorySegment rings;
    private final MemorySegment entries;

    /** @param offsets as in {@link IoUring} */
    RingMemory(int descriptor, int setup, int submissions, int completions, byte[] offsets) {
        this.offsets = ByteBuffer.wrap(offsets).order(ByteOrder.LITTLE_ENDIAN);
        try {
            this.rings = MappedMemory.shared(arena, descriptor, 0, pages(ringBytes(setup, submissions, completions,
                    offsets)), "map an io_uring");
            this.entries = MappedMemory.shared(arena, descriptor, ENTRIES_AT, pages(entryBytes(setup, submissions)),
                    "map the entries of an io_uring");
        } catch (LinuxError failure) {
            arena.close();
            throw failure;
        }
    }

    /** How large the memory of both queues is. */
    static long ringBytes(int setup, int submissions, int completions, byte[] offsets) {
        ByteBuffer at = ByteBuffer.wrap(offsets).order(ByteOrder.LITTLE_ENDIAN);
        long completed = at.getInt(CQES) + (long) completions * ((setup & IoUring.CQE32) != 0 ? 2 * CQE : CQE);
        return (setup & IoUring.NO_SQARRAY) != 0 ? completed
                : Math.max(completed, at.getInt(SQ_ARRAY) + 4L * submissions);
    }

    /** How large the memory of the entries is. */
    static long entryBytes(int setup, int submissions) {
        return (long) submissions * ((setup & IoUring.SQE128) != 0 ? 2 * SQE : SQE);
    }

    /** Whether these could be offsets within a ring: what is read and written by them stays in its first page. */
    static boolean areOffsets(byte[] offsets) {
        ByteBuffer at = ByteBuffer.wrap(offsets).order(ByteOrder.LITTLE_ENDIAN);
        for (int place : new int[]{SQ_HEAD, SQ_TAIL, SQ_FLAGS, SQ_DROPPED, CQ_HEAD, CQ_TAIL}) {
            if (at.getInt(place) < 0 || at.getInt(place) > PAGE - 4) {
                return false;
            }
        }
        return at.getInt(CQES) >= 0 && at.getInt(CQES) <= PAGE && at.getInt(SQ_ARRAY) >= 0
                && at.getInt(SQ_ARRAY) <= 1 << 24;
    }

    /**
     * Where this kernel puts the parts of such a ring: one is made here, and closed.
     *
     * @throws LinuxError this process may not make any
     */
    static byte[] offsets(int setup, int submissions, int completions) {
        MemorySegment data = Scratch.data().asSlice(0, PARAMETERS);
        data.fill((byte) 0);
        data.set(JAVA_INT, 4, completions);
        data.set(JAVA_INT, SETUP_FLAGS, setup & (IoUring.SQE128 | IoUring.CQE32 | IoUring.NO_SQARRAY) | IoUring.CQSIZE);
        long made = LinuxError.check(Syscall.call(Syscall.IO_URING_SETUP, submissions, data.address()),
                "io_uring_setup in the agent");
        byte[] parameters = data.toArray(JAVA_BYTE);
        Files.close((int) made);
        return Arrays.copyOfRange(parameters, OFFSETS, PARAMETERS);
    }

    private static long pages(long bytes) {
        return bytes + PAGE - 1 & -PAGE;
    }

    private int get(int place) {
        return rings.get(JAVA_INT, offsets.getInt(place));
    }

    private void set(int place, int value) {
        JAVA_INT.varHandle().setVolatile(rings, (long) offsets.getInt(place), value);
    }

    int taken() {
        return get(SQ_HEAD);
    }

    int submitted() {
        return get(SQ_TAIL);
    }

    int posted() {
        return get(CQ_TAIL);
    }

    int dropped() {
        return get(SQ_DROPPED);
    }

    /** Where the end of the submissions is in the rings' memory. */
    int submittedAt() {
        return offsets.getInt(SQ_TAIL);
    }

    /** Where it is how many completions were taken. */
    int consumedAt() {
        return offsets.getInt(CQ_HEAD);
    }

    /** Completions wait outside of the queue. */
    boolean overflowed() {
        return (get(SQ_FLAGS) & OVERFLOW) != 0;
    }

    /** Lets the kernel take entries up to this one: those of a new ring are all the same, which does nothing. */
    void submitTo(int count) {
        set(SQ_TAIL, count);
    }

    /** Makes room for completions. */
    void consumeAll() {
        set(CQ_HEAD, get(CQ_TAIL));
    }

    byte[] rings() {
        return rings.toArray(JAVA_BYTE);
    }

    byte[] entries() {
        return entries.toArray(JAVA_BYTE);
    }

    /**
     * Puts back what was in it, but what the kernel says of itself (IORING_SQ_NEED_WAKEUP); the end of the submissions
     * last, at which a polling thread goes on.
     */
    void put(byte[] savedRings, byte[] savedEntries) {
        MemorySegment.copy(savedEntries, 0, entries, JAVA_BYTE, 0, savedEntries.length);
        int flags = offsets.getInt(SQ_FLAGS);
        int tail = offsets.getInt(SQ_TAIL);
        copy(savedRings, 0, Math.min(flags, tail));
        copy(savedRings, Math.min(flags, tail) + 4, Math.max(flags, tail));
        copy(savedRings, Math.max(flags, tail) + 4, savedRings.length);
        set(SQ_TAIL, ByteBuffer.wrap(savedRings).order(ByteOrder.LITTLE_ENDIAN).getInt(tail));
    }

    private void copy(byte[] saved, int from, int to) {
        MemorySegment.copy(saved, from, rings, JAVA_BYTE, from, to - from);
    }

    @Override
    public void close() {
        arena.close();
    }
}
