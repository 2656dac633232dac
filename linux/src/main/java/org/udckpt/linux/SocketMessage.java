package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.MSG_CMSG_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.MSG_NOSIGNAL;
import static org.udckpt.linux.LinuxConstants.SCM_RIGHTS;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A message of a unix socket, with descriptors that go with it (SCM_RIGHTS, unix(7)).
 *
 * @param descriptors of this process: the receiver owns them
 */
public record SocketMessage(byte[] bytes, int[] descriptors) {
    /** The kernel passes 253 at a time (SCM_MAX_FD). */
    public static final int MOST_DESCRIPTORS = 200;
    public static final int MOST_BYTES = 4096;
    private static final int CONTROL_HEADER = 16;
    /** Offsets in the thread's scratch: struct msghdr, struct iovec, the bytes, struct cmsghdr. */
    private static final int VECTOR = 64, BYTES = 128, CONTROL = BYTES + MOST_BYTES,
            CONTROL_BYTES = CONTROL_HEADER + 4 * MOST_DESCRIPTORS;

    /** @param descriptors stay open here */
    public static void send(int socket, byte[] bytes, List<Integer> descriptors, String what) {
        int control = descriptors.isEmpty() ? 0 : CONTROL_HEADER + 4 * descriptors.size();
        MemorySegment data = prepare(bytes.length, control);
        MemorySegment.copy(bytes, 0, data, JAVA_BYTE, BYTES, bytes.length);
        data.set(JAVA_LONG, CONTROL, control);
        data.set(JAVA_INT, CONTROL + 8, SOL_SOCKET);
        data.set(JAVA_INT, CONTROL + 12, SCM_RIGHTS);
        for (int i = 0; i < descriptors.size(); i++) {
            data.set(JAVA_INT, CONTROL + CONTROL_HEADER + 4L * i, descriptors.get(i));
        }
        LinuxError.check(Syscall.call(Syscall.SENDMSG, socket, data.address(), MSG_NOSIGNAL), what);
    }

    /** Waits for the next one; no bytes: the other end is closed. */
    public static SocketMessage receive(int socket, String what) {
        MemorySegment data = prepare(MOST_BYTES, CONTROL_BYTES);
        long n;
        do {
            n = Syscall.call(Syscall.RECVMSG, socket, data.address(), MSG_CMSG_CLOEXEC);
        } while (n == -LinuxError.EINTR);
        LinuxError.check(n, what);
        long control = data.get(JAVA_LONG, 40);
        int count = control < CONTROL_HEADER ? 0 : (int) (data.get(JAVA_LONG, CONTROL) - CONTROL_HEADER) / 4;
        int[] descriptors = data.asSlice(CONTROL + CONTROL_HEADER, 4L * count).toArray(JAVA_INT);
        return new SocketMessage(data.asSlice(BYTES, n).toArray(JAVA_BYTE), descriptors);
    }

    private static MemorySegment prepare(int bytes, int control) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, BYTES).fill((byte) 0);
        data.set(JAVA_LONG, 16, data.address() + VECTOR);
        data.set(JAVA_LONG, 24, 1);
        data.set(JAVA_LONG, 32, control == 0 ? 0 : data.address() + CONTROL);
        data.set(JAVA_LONG, 40, control);
        data.set(JAVA_LONG, VECTOR, data.address() + BYTES);
        data.set(JAVA_LONG, VECTOR + 8, bytes);
        return data;
    }
}
