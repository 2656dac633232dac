package org.udckpt.agent;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.POLLERR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/** Standard output and error, which this process shares with the ranks. */
public final class StandardStreams {
    private static final int POLL = 7; // the system call

    private StandardStreams() {}

    /** Whether one of them is a pipe that nobody reads any more (poll(2): POLLERR at the end that writes). */
    public static boolean readerGone() {
        return readerGone(1) || readerGone(2);
    }

    public static boolean readerGone(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(8, 4); // struct pollfd: int fd; short events, revents
            request.set(JAVA_INT, 0, descriptor);
            LinuxError.check(Syscall.call(POLL, request.address(), 1, 0), "poll of descriptor " + descriptor);
            return (request.get(JAVA_SHORT, 6) & POLLERR) != 0;
        }
    }
}
