package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** What a socket was given and has not sent. */
public final class SendQueue {
    private static final int SIOCOUTQ = 0x5411;
    private static final int LOOKS = 10;
    private static final long BETWEEN_NS = 2_000_000;

    private SendQueue() {}

    /**
     * Bytes, with what the kernel needs for them; packets that a network device has yet to send are among them. 0 where
     * it has no such question: such sockets, of pings, collect nothing.
     */
    public static int bytes(int socket) {
        long result = Syscall.call(Syscall.IOCTL, socket, SIOCOUTQ, Scratch.data().address());
        if (result == -LinuxError.ENOTTY) {
            return 0;
        }
        LinuxError.check(result, "SIOCOUTQ");
        return Scratch.data().get(JAVA_INT, 0);
    }

    /** Whether it is empty within 20 ms: packets of a network device leave, what is collected (MSG_MORE) stays. */
    public static boolean becomesEmpty(int socket) {
        for (int i = 0; i < LOOKS; i++) {
            if (bytes(socket) == 0) {
                return true;
            }
            LockSupport.parkNanos(BETWEEN_NS);
        }
        return false;
    }
}
