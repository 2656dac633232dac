package org.udckpt.process.kinds.filter;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;

/** Reads the filter of each socket, whatever kind took it. */
final class SocketFilterCapture implements SocketCapture {
    /** SOL_SOCKET (asm-generic/socket.h). The length of the former counts instructions. */
    private static final int SO_GET_FILTER = 26;
    static final int SO_LOCK_FILTER = 44;
    private static final int LENGTH = ClassicBpf.MOST * ClassicBpf.INSTRUCTION;

    private final CaptureScope scope;

    SocketFilterCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public void beside(OpenDescriptor open, int socket, SocketType type, long object) {
        int count = get(open, socket, 0);
        if (count == 0) {
            return;
        }
        if (open.process().inFlight()) {
            throw open.refuse("this socket has a filter (SO_ATTACH_FILTER) and is open in no process, which cannot be "
                    + "checkpointed; keep it open in one, too");
        }
        get(open, socket, count);
        byte[] program = Scratch.data().asSlice(0, (long) count * ClassicBpf.INSTRUCTION).toArray(JAVA_BYTE);
        scope.table().add(new SocketFilter(scope.table().newId(), object, program,
                SocketQueue.option(socket, SO_LOCK_FILTER) != 0));
    }

    /** How many instructions it has, which come if there is room for that many. */
    private static int get(OpenDescriptor open, int socket, int room) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, room);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, SO_GET_FILTER, data.address(),
                data.address() + LENGTH);
        if (result == -LinuxError.EACCES) {
            throw open.refuse("this socket has an eBPF filter (SO_ATTACH_BPF), which the kernel does not give out and "
                    + "so cannot be checkpointed; detach it first");
        }
        LinuxError.check(result, "filter of a socket");
        return data.get(JAVA_INT, LENGTH);
    }
}
