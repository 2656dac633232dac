package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.model.SocketLevel;

/** The options of a unix socket that a new one has not ({@link UnixOptions}). */
final class UnixOptionReader {
    /** Options of a new socket, by its type: the kernel's defaults, which are constant. */
    private static final Map<Integer, SocketOptions.Values> USUAL = new ConcurrentHashMap<>();

    private UnixOptionReader() {}

    /** Three numbers for each: level, name, value. */
    static int[] changed(int socket, int type) {
        SocketOptions.Values usual = USUAL.computeIfAbsent(type, UnixOptionReader::usual);
        return SocketOptions.withLinger(SocketOptions.changed(socket, SocketLevel.UNIX, usual), socket);
    }

    private static SocketOptions.Values usual(int type) {
        int socket = (int) LinuxError.check(
                NetworkCalls.socket(AF_UNIX, type | Syscall.O_CLOEXEC, 0), "a new socket");
        try {
            return SocketOptions.values(socket, SocketLevel.UNIX);
        } finally {
            Files.close(socket);
        }
    }
}
