package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.udckpt.process.linux.Files;
import org.udckpt.process.linux.LinuxError;
import org.udckpt.process.linux.Scratch;
import org.udckpt.process.linux.Syscall;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;

/** Reads the options of TCP sockets, and compares them with those of a new one. Close it. */
final class TcpOptionReader implements AutoCloseable {
    private static final int SOCK_STREAM = 1, EADDRNOTAVAIL = 99, ENOPROTOOPT = 92, LENGTH = 1024;
    private static final int SO_SNDBUF = 7, SO_LINGER = 13, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21, SO_BINDTODEVICE = 25, SO_GET_FILTER = 26, SO_BUF_LOCK = 72;
    private static final int TCP_CONGESTION = 13, TCP_ULP = 31;

    /** A new socket of each family. */
    private final Map<Integer, Integer> fresh = new HashMap<>();
    /** Its options, in the order of {@link TcpOptions#CARRIED}. */
    private final Map<Integer, OptionalInt[]> models = new HashMap<>();

    private static int socket(int domain) {
        return (int) LinuxError.check(Syscall.call(Syscall.SOCKET, domain, SOCK_STREAM | Syscall.O_CLOEXEC, 0), "a TCP socket");
    }

    /** Whether the other end's address is one of this machine. */
    static boolean isLocal(TcpEnd end) {
        int probe = socket(end.domain);
        try {
            MemorySegment data = Scratch.data();
            MemorySegment.copy(end.remote, 0, data, JAVA_BYTE, 0, end.remote.length);
            data.set(JAVA_BYTE, 2, (byte) 0); // any port
            data.set(JAVA_BYTE, 3, (byte) 0);
            long result = Syscall.call(Syscall.BIND, probe, data.address(), end.remote.length);
            if (result == -EADDRNOTAVAIL) {
                return false;
            }
            LinuxError.check(result, "bind to the address of " + end);
            return true;
        } finally {
            Files.close(probe);
        }
    }

    TcpSocket record(TcpEnd end, TcpSocket.TcpState state, long peer, byte[] queued, int shutdown, int backlog) {
        refuseOddities(end);
        int socket = end.socket();
        int model = fresh.computeIfAbsent(end.domain, TcpOptionReader::socket);
        int chosen = SocketQueue.option(socket, SO_BUF_LOCK);
        String congestion = text(socket, TcpOptions.SOL_TCP, TCP_CONGESTION);
        return new TcpSocket(end.id, end.open.openFlags(), end.domain, state, peer, end.local, end.remote, queued, shutdown, backlog,
                changed(end.domain, socket, model), microseconds(socket, SO_RCVTIMEO), microseconds(socket, SO_SNDTIMEO), linger(socket),
                (chosen & 1) != 0 ? SocketQueue.option(socket, SO_SNDBUF) : 0, end.chosenReceiveBuffer(),
                congestion.equals(text(model, TcpOptions.SOL_TCP, TCP_CONGESTION)) ? "" : congestion, text(socket, TcpOptions.SOL_SOCKET, SO_BINDTODEVICE));
    }

    private static void refuseOddities(TcpEnd end) {
        String layer = text(end.socket(), TcpOptions.SOL_TCP, TCP_ULP);
        if (!layer.isEmpty()) {
            throw end.open.refuse(end + ": a TCP socket with the kernel's " + layer + " layer (TCP_ULP) cannot be checkpointed; turn that layer off");
        }
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, 0);
        long result = Syscall.call(Syscall.GETSOCKOPT, end.socket(), TcpOptions.SOL_SOCKET, SO_GET_FILTER, data.address(), data.address() + LENGTH);
        if (result < 0 || data.get(JAVA_INT, LENGTH) != 0) {
            throw end.open.refuse(end + ": a TCP socket with a filter (SO_ATTACH_FILTER, SO_ATTACH_BPF) cannot be checkpointed; detach it first");
        }
    }

    private int[] changed(int domain, int socket, int model) {
        OptionalInt[] usual = models.computeIfAbsent(domain, unused -> Arrays.stream(TcpOptions.CARRIED).map(option -> number(model, option)).toArray(OptionalInt[]::new));
        int[] changed = new int[3 * TcpOptions.CARRIED.length];
        int count = 0;
        for (int i = 0; i < usual.length; i++) {
            int[] option = TcpOptions.CARRIED[i];
            OptionalInt value = usual[i].isEmpty() ? usual[i] : number(socket, option); // what a new one has not
            if (value.isPresent() && !value.equals(usual[i])) {
                changed[count++] = option[0];
                changed[count++] = option[1];
                changed[count++] = value.getAsInt();
            }
        }
        return Arrays.copyOf(changed, count);
    }

    /** Empty: the kernel, or this family, has no such option. */
    private static OptionalInt number(int socket, int[] option) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_LONG, 0, 0); // some write a byte only
        data.set(JAVA_INT, LENGTH, 4);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, option[0], option[1], data.address(), data.address() + LENGTH);
        if (result == -ENOPROTOOPT || result == -LinuxError.EOPNOTSUPP) {
            return OptionalInt.empty();
        }
        LinuxError.check(result, "socket option " + option[1] + " of level " + option[0]);
        return OptionalInt.of(data.get(JAVA_INT, 0));
    }

    private static String text(int socket, int level, int option) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 64).fill((byte) 0);
        data.set(JAVA_INT, LENGTH, 64);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, level, option, data.address(), data.address() + LENGTH);
        if (result == -ENOPROTOOPT) {
            return "";
        }
        LinuxError.check(result, "socket option " + option + " of level " + level);
        return data.get(JAVA_INT, LENGTH) == 0 ? "" : new String(data.asSlice(0, 64).toArray(JAVA_BYTE), StandardCharsets.UTF_8).replaceAll("\0.*", "");
    }

    /** An option that is a struct timeval. */
    private static long microseconds(int socket, int option) {
        MemorySegment data = pair(socket, option, 16);
        return data.get(JAVA_LONG, 0) * 1_000_000 + data.get(JAVA_LONG, 8);
    }

    /** struct linger: on or off, seconds. */
    private static int linger(int socket) {
        MemorySegment data = pair(socket, SO_LINGER, 8);
        return data.get(JAVA_INT, 0) == 0 ? -1 : data.get(JAVA_INT, 4);
    }

    private static MemorySegment pair(int socket, int option, int bytes) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, bytes);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, socket, TcpOptions.SOL_SOCKET, option, data.address(), data.address() + LENGTH), "socket option " + option);
        return data;
    }

    @Override
    public void close() {
        fresh.values().forEach(Files::close);
    }
}
