package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The processor's watchpoints (perf_event_open(2), PERF_TYPE_BREAKPOINT), by which a debugger stops at a write. */
public final class Watchpoints {
    private static final int PERF_EVENT_OPEN = 298, TYPE_BREAKPOINT = 5, WRITE = 2;
    /** struct perf_event_attr: type, size, flags (exclude_kernel, exclude_hv), bp_type, bp_addr, bp_len. */
    private static final int SIZE = 112, FLAGS = 40, KIND = 52, ADDRESS = 56, LENGTH = 64;
    private static final long USER_ONLY = 1 << 5 | 1 << 6;

    private Watchpoints() {}

    /**
     * False: this machine takes watchpoints and does not report that they were hit, as virtual machines do that have no
     * debug registers. True also where it cannot be tried.
     */
    public static boolean reported() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment watched = arena.allocate(8, 8);
            MemorySegment attributes = arena.allocate(SIZE, 8);
            attributes.set(JAVA_INT, 0, TYPE_BREAKPOINT);
            attributes.set(JAVA_INT, 4, SIZE);
            attributes.set(JAVA_LONG, FLAGS, USER_ONLY);
            attributes.set(JAVA_INT, KIND, WRITE);
            attributes.set(JAVA_LONG, ADDRESS, watched.address());
            attributes.set(JAVA_LONG, LENGTH, watched.byteSize());
            long event = Syscall.call(PERF_EVENT_OPEN, attributes.address(), 0, -1, -1, 0);
            if (event < 0) {
                return true; // not permitted, or no such events
            }
            try {
                watched.set(JAVA_LONG, 0, 1);
                MemorySegment count = arena.allocate(8, 8);
                LinuxError.check(Syscall.call(Syscall.READ, event, count.address(), 8), "read a counter of writes");
                return count.get(JAVA_LONG, 0) > 0;
            } finally {
                Files.close((int) event);
            }
        }
    }
}
