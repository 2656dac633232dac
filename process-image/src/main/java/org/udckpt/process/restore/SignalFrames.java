package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.Registers;

/**
 * Threads inside signal handlers have the state to which they will return on their stacks (struct rt_sigframe, Linux,
 * arch/x86/include/asm/sigframe.h), with vector state as the first machine laid it out. Where this one does it
 * otherwise, rt_sigreturn(2) would take the wrong bytes, or, of a larger area, silently none but those of SSE. Frames
 * are found by the pointer to the vector state in struct sigcontext, the marks at both ends of that state, and the code
 * segment.
 */
final class SignalFrames {
    private static final int CHUNK = 1 << 20;
    /** Vector state lies above the frame, which is smaller than this. */
    private static final int FRAME_MOST = 640;
    /** From the pointer to the vector state back to other members of struct sigcontext. */
    private static final int CODE_SEGMENT = -40, INSTRUCTION = -56, STACK = -64;
    private static final int USER_CODE_64 = 0x33;

    private final Tracee tracee;
    private final List<Region> regions;
    private final VectorConversion vectors;
    private final KernelPages kernel;
    private final LazyProcesses lazy;

    SignalFrames(Tracee tracee, List<Region> regions, VectorConversion vectors, KernelPages kernel,
            LazyProcesses lazy) {
        this.tracee = tracee;
        this.regions = regions;
        this.vectors = vectors;
        this.kernel = kernel;
        this.lazy = lazy;
    }

    /** When memory is in place: follows each thread's stack, and those that its handlers had interrupted. */
    void convert(List<ThreadState> threads) {
        if (vectors.needed() || kernel.foreign()) {
            threads.forEach(this::convert);
        }
    }

    private void convert(ThreadState thread) {
        Deque<Long> stacks = new ArrayDeque<>(List.of(Registers.of(thread.registers()).get(Registers.RSP)));
        Map<Region, Long> seen = new HashMap<>(); // from this address on
        while (!stacks.isEmpty()) {
            long pointer = stacks.remove();
            Region stack = regions.stream().filter(r -> r.writable() && r.start() <= pointer && pointer < r.end())
                    .findFirst().orElse(null);
            if (stack == null) {
                continue;
            }
            long end = seen.getOrDefault(stack, stack.end());
            for (long at = pointer & -8L; at < end; at += CHUNK) {
                scan(thread, at, (int) Math.min(CHUNK, end - at), stack.end(), stacks);
            }
            seen.merge(stack, pointer & -8L, Math::min);
        }
    }

    private void scan(ThreadState thread, long start, int bytes, long end, Deque<Long> stacks) {
        ByteBuffer words = ByteBuffer.wrap(read(start, bytes)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes; i += 8) {
            long area = words.getLong(i);
            long at = start + i;
            if (area > at && area - at <= FRAME_MOST && (area & 63) == 0 && area + VectorConversion.FRAME_LEAST <= end
                    && codeSegment(at) == USER_CODE_64) {
                int size = vectors.frameSize(read(area, VectorConversion.FRAME_LEAST));
                if (size > 0 && area + size + 4 <= end && vectors.marked(read(area + size, 4))) {
                    convert(thread, at, area, size);
                    stacks.add(tracee.memory().readLong(at + STACK));
                }
            }
        }
    }

    private int codeSegment(long pointer) {
        return ByteBuffer.wrap(read(pointer + CODE_SEGMENT, 2)).order(ByteOrder.LITTLE_ENDIAN).getShort() & 0xffff;
    }

    private byte[] read(long address, int count) {
        lazy.need(tracee, address & -4096L, address + count);
        return tracee.read(address, count);
    }

    private void convert(ThreadState thread, long pointer, long area, int size) {
        String who = "thread " + thread.tid() + ", below a signal handler,";
        kernel.refuseInside(tracee.memory().readLong(pointer + INSTRUCTION), who);
        if (vectors.needed()) {
            tracee.memory().writeBytes(area, vectors.frame(tracee, who, tracee.read(area, size + 4), size));
        }
    }
}
