package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.SO_BINDTODEVICE;
import static org.udckpt.linux.LinuxConstants.SO_BUF_LOCK;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;
import static org.udckpt.linux.LinuxConstants.SO_SNDTIMEO;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;

/** Options of sockets of one type, compared with those of a new one. Close it. */
public final class SocketOptions implements AutoCloseable {
    private static final int LENGTH = 1024;
    private static final int SEND_LOCKED = 1, RECEIVE_LOCKED = 2;

    private final int type;
    private final int protocol;
    private final int[][] carried;
    /** A new socket of each family. */
    private final Map<Integer, Integer> fresh = new HashMap<>();
    /** Its options, in the order of {@link #carried}. */
    private final Map<Integer, Values> models = new HashMap<>();

    /** @param carried {level, name} of those that are ints */
    public SocketOptions(int type, int protocol, int[][] carried) {
        this.type = type;
        this.protocol = protocol;
        this.carried = carried;
    }

    /** A new socket; it is closed with this. */
    public int model(int domain) {
        return fresh.computeIfAbsent(domain, family -> (int) LinuxError.check(
                NetworkCalls.socket(family, type | Syscall.O_CLOEXEC, protocol), "a new socket"));
    }

    /** Three numbers for each option that a new socket has not: level, name, value. */
    public int[] changed(int domain, int socket) {
        int model = model(domain);
        return changed(socket, carried, models.computeIfAbsent(domain, unused -> values(model, carried)));
    }

    /** A socket's options, in the order of a list of options; empty: the socket has no such option. */
    public record Values(OptionalInt[] numbers) {}

    /** The values that a socket has. */
    public static Values values(int socket, int[][] options) {
        return new Values(Arrays.stream(options).map(option -> number(socket, option)).toArray(OptionalInt[]::new));
    }

    /** As {@link #changed(int, int)}, compared with {@code usual}. */
    public static int[] changed(int socket, int[][] options, Values usual) {
        int[] changed = new int[3 * options.length];
        int count = 0;
        for (int i = 0; i < options.length; i++) {
            OptionalInt before = usual.numbers[i];
            OptionalInt value = before.isEmpty() ? before : number(socket, options[i]); // what a new one has not
            if (value.isPresent() && !value.equals(before)) {
                changed[count++] = options[i][0];
                changed[count++] = options[i][1];
                changed[count++] = value.getAsInt();
            }
        }
        return Arrays.copyOf(changed, count);
    }

    /** The same, with SO_LINGER first where it is on ({@link SocketLevel#SO_LINGER}). */
    public static int[] withLinger(int[] changed, int socket) {
        int linger = linger(socket);
        if (linger < 0) {
            return changed;
        }
        int[] all = Arrays.copyOf(new int[]{TcpOptions.SOL_SOCKET, SocketLevel.SO_LINGER, linger}, changed.length + 3);
        System.arraycopy(changed, 0, all, 3, changed.length);
        return all;
    }

    /** SO_LINGER: seconds, or -1: off (struct linger: on or off, seconds). */
    public static int linger(int socket) {
        MemorySegment data = struct(socket, SocketLevel.SO_LINGER, 8);
        return data.get(JAVA_INT, 0) == 0 ? -1 : data.get(JAVA_INT, 4);
    }

    /** Empty: the kernel, or this family, has no such option. */
    public static OptionalInt number(int socket, int... option) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_LONG, 0, 0); // some write a byte only
        data.set(JAVA_INT, LENGTH, 4);
        long result =
                Syscall.call(Syscall.GETSOCKOPT, socket, option[0], option[1], data.address(), data.address() + LENGTH);
        if (result == -LinuxError.ENOPROTOOPT || result == -LinuxError.EOPNOTSUPP) {
            return OptionalInt.empty();
        }
        LinuxError.check(result, "socket option " + option[1] + " of level " + option[0]);
        return OptionalInt.of(data.get(JAVA_INT, 0));
    }

    /** Empty where there is no such option. */
    public static String text(int socket, int level, int option) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 64).fill((byte) 0);
        data.set(JAVA_INT, LENGTH, 64);
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, level, option, data.address(), data.address() + LENGTH);
        if (result == -LinuxError.ENOPROTOOPT) {
            return "";
        }
        LinuxError.check(result, "socket option " + option + " of level " + level);
        return data.get(JAVA_INT, LENGTH) == 0
                ? ""
                : new String(data.asSlice(0, 64).toArray(JAVA_BYTE), StandardCharsets.UTF_8).replaceAll("\0.*", "");
    }

    /** A struct of option {@code name} (SOL_SOCKET). */
    public static MemorySegment struct(int socket, int name, int bytes) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, bytes);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, socket, TcpOptions.SOL_SOCKET, name, data.address(),
                data.address() + LENGTH),
                "socket option " + name);
        return data;
    }

    /** SO_RCVTIMEO in microseconds, 0: none. */
    public static long receiveTimeoutUs(int socket) {
        return microseconds(socket, SO_RCVTIMEO);
    }

    /** SO_SNDTIMEO. */
    public static long sendTimeoutUs(int socket) {
        return microseconds(socket, SO_SNDTIMEO);
    }

    /** An option that is a struct timeval. */
    private static long microseconds(int socket, int option) {
        MemorySegment data = struct(socket, option, 16);
        return data.get(JAVA_LONG, 0) * 1_000_000 + data.get(JAVA_LONG, 8);
    }

    /** SO_SNDBUF, when the process has chosen it; else 0. */
    public static int chosenSendBuffer(int socket) {
        return (SocketQueue.option(socket, SO_BUF_LOCK) & SEND_LOCKED) != 0 ? SocketQueue.option(socket, SO_SNDBUF) : 0;
    }

    /** SO_RCVBUF, when the process has chosen it; else 0. */
    public static int chosenReceiveBuffer(int socket) {
        return (SocketQueue.option(socket, SO_BUF_LOCK) & RECEIVE_LOCKED) != 0 ? SocketQueue.option(socket, SO_RCVBUF)
                : 0;
    }

    /** SO_BINDTODEVICE, or empty. */
    public static String device(int socket) {
        return text(socket, TcpOptions.SOL_SOCKET, SO_BINDTODEVICE);
    }

    @Override
    public void close() {
        fresh.values().forEach(Files::close);
    }
}
