package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** What a socket of this process has to tell (poll(2)). */
public final class SocketEvents {
    public static final int POLLPRI = 2;

    private SocketEvents() {}

    /** POLLIN, POLLPRI, POLLRDHUP, POLLHUP and POLLERR, without waiting. */
    public static int of(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, socket);
        data.set(JAVA_INT, 4, POLLIN | POLLPRI | POLLRDHUP);
        LinuxError.check(Syscall.call(Syscall.POLL, data.address(), 1, 0), "poll of a socket");
        return data.get(JAVA_SHORT, 6);
    }
}
