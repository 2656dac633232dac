package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Registers;

/**
 * A stop makes a blocking write to a full pipe or socket, or a receive with MSG_WAITALL, return with the part that is
 * done (pipe(7), recv(2)). Programs take that for an error. Such a thread goes on in the parasite's routine, which does
 * the rest and returns the sum; a restored one too, since the routine and its frame are in the image.
 */
final class CutTransfer {
    private static final int MSG_WAITALL = 0x100;
    private static final int SIGINFO = 128;

    private CutTransfer() {}

    /** When the thread's frame is written. */
    static void goOn(TracedProcess process, TracedThread thread) {
        Registers registers = thread.registers;
        long done = registers.get(Registers.RAX);
        if (!process.parasite.safe() || done <= 0 || !transfers(registers)
                || Long.compareUnsigned(done, registers.argument(2)) >= 0
                || deliverable(process.pendingSignals, thread.signalMask)
                || deliverable(thread.pendingSignals, thread.signalMask)
                || !blocking(process, (int) registers.argument(0))) {
            return;
        }
        registers.set(Registers.R12, registers.systemCall()).set(Registers.R13, done)
                .set(Registers.RSI, registers.argument(1) + done)
                .set(Registers.RDX, registers.argument(2) - done).set(Registers.RSP, thread.frame)
                .set(Registers.RIP, process.parasite.restRoutine())
                .set(Registers.ORIG_RAX, -1);
    }

    private static boolean transfers(Registers registers) {
        long flags = registers.argument(3);
        return switch (registers.systemCall()) {
            case Syscall.WRITE -> true;
            case Syscall.SENDTO -> (flags & MSG_DONTWAIT) == 0;
            case Syscall.RECVFROM -> (flags & MSG_WAITALL) != 0 && (flags & (MSG_PEEK | MSG_DONTWAIT)) == 0;
            default -> false;
        };
    }

    /** A handler is going to run: then the short count is what the program must get. */
    private static boolean deliverable(byte[] signals, long mask) {
        MemorySegment all = MemorySegment.ofArray(signals);
        for (long at = 0; at < signals.length; at += SIGINFO) {
            if ((mask >>> (all.get(JAVA_INT_UNALIGNED, at) - 1) & 1) == 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean blocking(TracedProcess process, int fd) {
        String link = Files.readLink("/proc/" + process.task() + "/fd/" + fd);
        if (link == null || !link.startsWith("pipe:") && !link.startsWith("socket:")) {
            return false;
        }
        try {
            int flags =
                    Integer.parseInt(Proc.field(Proc.text("/proc/" + process.task() + "/fdinfo/" + fd), "flags:"), 8);
            return (flags & Syscall.O_NONBLOCK) == 0;
        } catch (LinuxError closed) {
            if (closed.errno() == LinuxError.ENOENT) {
                return false; // by another thread, while this one was in the call
            }
            throw closed;
        }
    }
}
