package org.udckpt.process.kinds.ipc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.MAP_ANONYMOUS;
import static org.udckpt.linux.LinuxConstants.MAP_PRIVATE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.AskedProcess;

/**
 * Calls about the objects of an IPC namespace: made in this process where that is its own, for this costs nothing; else
 * in a stopped process of the job.
 */
final class IpcCalls implements AutoCloseable {
    private static final int READ_WRITE = 3, ROUND = 1 << 16;

    /** Null: calls are made in this process. */
    private final AskedProcess process;
    private final Arena arena = Arena.ofConfined();
    private MemorySegment here;
    /** In the process, until {@link #close}. */
    private long mapped;
    private int size;

    private IpcCalls(AskedProcess process) {
        this.process = process;
    }

    static IpcCalls here() {
        return new IpcCalls(null);
    }

    /** On the tracer thread of that process. */
    static IpcCalls in(AskedProcess process) {
        return new IpcCalls(process);
    }

    /** The result, or {@code -errno}. */
    long call(long number, long... arguments) {
        if (process != null) {
            return process.tryCall(number, arguments);
        }
        long[] six = java.util.Arrays.copyOf(arguments, 6);
        return Syscall.call(number, six[0], six[1], six[2], six[3], six[4], six[5]);
    }

    /** Address of so many bytes for what the next calls write. */
    long room(int bytes) {
        if (process == null) {
            if (here == null || here.byteSize() < bytes) {
                here = arena.allocate(rounded(bytes), 8);
            }
            return here.address();
        }
        if (bytes <= process.resultBytes()) {
            return process.results();
        }
        if (size < bytes) {
            unmap();
            size = rounded(bytes);
            mapped = LinuxError.check(
                    process.tryCall(Syscall.MMAP, 0, size, READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                    "map memory for messages and semaphores in process " + process.pid());
        }
        return mapped;
    }

    private static int rounded(int bytes) {
        return Math.ceilDiv(bytes, ROUND) * ROUND;
    }

    /** What a call has written to {@link #room}. */
    ByteBuffer read(long address, int bytes) {
        byte[] copy = process == null ? here.asSlice(0, bytes).toArray(JAVA_BYTE) : process.read(address, bytes);
        return ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void unmap() {
        if (size != 0) {
            LinuxError.check(process.tryCall(Syscall.MUNMAP, mapped, size), "unmap memory in process " + process.pid());
            size = 0;
        }
    }

    @Override
    public void close() {
        arena.close();
        unmap();
    }
}
