package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNET;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;

import java.lang.foreign.MemorySegment;

/**
 * System calls in a network namespace: by a process that is in it, and shares memory and descriptors with this one. A
 * socket belongs to the namespace in which it was made, whoever uses it; so it is enough to make it there.
 */
public final class NetworkCalls implements AutoCloseable {
    private static final ScopedValue<NetworkCalls> CURRENT = ScopedValue.newInstance();
    /** Since Linux 5.14 (asm-generic/socket.h). */
    private static final int SO_NETNS_COOKIE = 71;
    private static final String NET = "net";
    private static final int COOKIE_BYTES = 8, LENGTH = 16;

    private final NamespaceCalls process;

    private NetworkCalls(NamespaceCalls process) {
        this.process = process;
    }

    /** In the namespace of a process. @throws LinuxError this process may not enter it */
    public static NetworkCalls of(int pid) {
        return new NetworkCalls(new NamespaceCalls(pid, NET, CLONE_NEWNET));
    }

    /**
     * In a new namespace, which is owned by the same user namespace as that of a process, and ends with this. @throws
     * LinuxError it cannot be made
     */
    public static NetworkCalls inNewOne(int pid) {
        return new NetworkCalls(NamespaceCalls.inNewOne(pid, NET, CLONE_NEWNET));
    }

    /** That of {@link #in}; null: this process's own. */
    public static NetworkCalls current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Runs what makes its sockets by {@link #socket} in a namespace. @param network null: this process's own */
    public static void in(NetworkCalls network, Runnable run) {
        ScopedValue.where(CURRENT, network).run(run);
    }

    /** The process in the namespace, as this process numbers it. */
    public int pid() {
        return process.pid();
    }

    /** The result, or {@code -errno}. Addresses and descriptors are those of this process. */
    public long call(long number, long... arguments) {
        return process.call(number, arguments);
    }

    /** The same of several in their order: each a number and its arguments. */
    public long[] calls(long[][] several) {
        return process.calls(several);
    }

    /** socket(2) in the namespace of {@link #in}: a descriptor of this process, or {@code -errno}. */
    public static long socket(int domain, int type, int protocol) {
        NetworkCalls network = current();
        return network == null ? Syscall.call(Syscall.SOCKET, domain, type, protocol)
                : network.call(Syscall.SOCKET, domain, type, protocol);
    }

    /** Which process's directory in /proc has the tables of the namespace of {@link #in}: a pid, or "self". */
    public static String process() {
        NetworkCalls network = current();
        return network == null ? "self" : Integer.toString(network.process.pid());
    }

    /** The number by which the kernel tells the namespace of {@link #in} from others; 0: it does not tell. */
    public static long cookie() {
        int socket = (int) LinuxError.check(socket(AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0), "a socket");
        try {
            return cookie(socket);
        } finally {
            Files.close(socket);
        }
    }

    /** As {@link #cookie()}, of the namespace to which a socket belongs. */
    public static long cookie(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, COOKIE_BYTES);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, SO_NETNS_COOKIE, data.address(),
                data.address() + LENGTH);
        if (result == -LinuxError.ENOPROTOOPT) {
            return 0;
        }
        LinuxError.check(result, "network namespace of a socket");
        return data.get(JAVA_LONG, 0);
    }

    /**
     * A file of the kernel's as a process in the namespace reads it; empty: there is none. @throws LinuxError it cannot
     * be read
     */
    public String textOf(String path) {
        String text = process.text(path);
        return text == null ? "" : text;
    }

    @Override
    public void close() {
        process.close();
    }
}
