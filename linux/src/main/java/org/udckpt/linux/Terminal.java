package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.O_NOCTTY;
import static org.udckpt.linux.LinuxConstants.POLLHUP;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLOUT;
import static org.udckpt.linux.LinuxConstants.TCGETS2;
import static org.udckpt.linux.LinuxConstants.TCOOFF;
import static org.udckpt.linux.LinuxConstants.TCOON;
import static org.udckpt.linux.LinuxConstants.TCSETS2;
import static org.udckpt.linux.LinuxConstants.TCXONC;
import static org.udckpt.linux.LinuxConstants.TIOCGPGRP;
import static org.udckpt.linux.LinuxConstants.TIOCGWINSZ;
import static org.udckpt.linux.LinuxConstants.TIOCSWINSZ;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;

/** Calls on a pseudo-terminal through descriptors of this process (ioctl_tty(2), termios(3)). */
public final class Terminal {
    /** Bytes of struct termios2 and struct winsize. */
    public static final int MODES_BYTES = 44, WINDOW_BYTES = 8;
    public static final int TIOCSCTTY = 0x540e, TIOCSPGRP = 0x5410, TIOCGPTPEER = 0x5441, TIOCSPTLCK = 0x4004_5431;
    private static final int FIONREAD = 0x541b, TIOCPKT = 0x5420, TIOCGSID = 0x5429, TIOCGPTN = 0x8004_5430,
            TIOCGPKT = 0x8004_5438, TIOCGPTLCK = 0x8004_5439;
    private static final int POLL = 7;
    /** Offsets in struct termios2, and in c_cc. */
    private static final int IFLAG = 0, OFLAG = 4, LFLAG = 12, CONTROL = 17, CONTROL_BYTES = 19, VTIME = 5, VMIN = 6;
    private static final int OPOST = 1, ICANON = 2;
    /** A piece that a terminal with room takes at once: it does not block. */
    private static final int PIECE = 256;
    private static final int NOBODY_READS_MS = 1000;

    private Terminal() {}

    public static int number(int master) {
        return get(master, TIOCGPTN, "number");
    }

    public static boolean locked(int master) {
        return get(master, TIOCGPTLCK, "lock") != 0;
    }

    public static boolean packets(int master) {
        return get(master, TIOCGPKT, "packet mode") != 0;
    }

    public static void packets(int master, boolean on) {
        set(master, TIOCPKT, on ? 1 : 0, "packet mode");
    }

    public static void lock(int master, boolean on) {
        set(master, TIOCSPTLCK, on ? 1 : 0, "lock");
    }

    /** The session that it controls, in this process's pid namespace; 0: none, or one that is not seen here. */
    public static int session(int master) {
        return optional(master, TIOCGSID, "session");
    }

    /** The foreground process group, likewise. */
    public static int foreground(int master) {
        return optional(master, TIOCGPGRP, "foreground group");
    }

    private static int optional(int fd, int request, String what) {
        long result = ioctl(fd, request, Scratch.data().address());
        if (result == -LinuxError.ENOTTY) {
            return 0; // it controls nothing
        }
        LinuxError.check(result, what + " of a terminal");
        return Scratch.data().get(JAVA_INT, 0);
    }

    /** The modes of the slave, whichever end is asked. Null: the other end was closed (EIO). */
    public static byte[] modes(int fd) {
        long result = ioctl(fd, TCGETS2, Scratch.data().address());
        if (result == -LinuxError.EIO) {
            return null;
        }
        LinuxError.check(result, "modes of a terminal");
        return Scratch.data().asSlice(0, MODES_BYTES).toArray(JAVA_BYTE);
    }

    public static void modes(int fd, byte[] modes) {
        MemorySegment.copy(modes, 0, Scratch.data(), JAVA_BYTE, 0, MODES_BYTES);
        LinuxError.check(ioctl(fd, TCSETS2, Scratch.data().address()), "set modes of a terminal");
    }

    public static byte[] window(int fd) {
        LinuxError.check(ioctl(fd, TIOCGWINSZ, Scratch.data().address()), "size of a terminal");
        return Scratch.data().asSlice(0, WINDOW_BYTES).toArray(JAVA_BYTE);
    }

    /** Tells the foreground group (SIGWINCH), where there is one. */
    public static void window(int fd, byte[] window) {
        MemorySegment.copy(window, 0, Scratch.data(), JAVA_BYTE, 0, WINDOW_BYTES);
        LinuxError.check(ioctl(fd, TIOCSWINSZ, Scratch.data().address()), "set the size of a terminal");
    }

    /** Whether there is something to read, or whether the other end was open once and is closed. */
    public static boolean readable(int fd) {
        return (poll(fd, POLLIN, 0) & POLLIN) != 0;
    }

    public static boolean hungUp(int fd) {
        return (poll(fd, POLLIN, 0) & POLLHUP) != 0;
    }

    /** A slave of the terminal, opened in this process. */
    public static int slave(int master) {
        return (int) LinuxError.check(ioctl(master, TIOCGPTPEER, Syscall.O_RDWR | O_NOCTTY | Syscall.O_CLOEXEC),
                "open a terminal's other end");
    }

    /** Takes what the slave has sent and nobody has read. */
    public static byte[] takeOutput(int master) {
        boolean packets = packets(master);
        if (packets) {
            packets(master, false);
        }
        try {
            return take(master);
        } finally {
            if (packets) {
                packets(master, true);
            }
        }
    }

    /** Puts bytes where {@link #takeOutput} takes them, as they are. */
    public static void putOutput(int slave, byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        byte[] own = modes(slave);
        byte[] plain = own.clone();
        clear(plain, OFLAG, OPOST);
        modes(slave, plain);
        try {
            put(slave, slave, bytes);
        } finally {
            modes(slave, own);
        }
    }

    /**
     * Takes what was sent to the slave and nobody has read, a line that is not complete included. An end of file that
     * was typed and not read comes as a NUL byte.
     */
    public static byte[] takeInput(int slave) {
        byte[] own = modes(slave);
        modes(slave, neutral(own, false));
        try {
            return take(slave);
        } finally {
            modes(slave, own);
        }
    }

    /** Puts bytes where {@link #takeInput} takes them: no echo, no signal, but lines where the slave reads lines. */
    public static void putInput(int master, int slave, byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        byte[] own = modes(slave);
        modes(slave, neutral(own, (own[LFLAG] & ICANON) != 0));
        try {
            put(master, slave, bytes);
            poll(slave, POLLIN, 0); // lets the kernel bring it to the slave under these modes
        } finally {
            modes(slave, own);
        }
    }

    /** Modes under which input bytes mean nothing but themselves, and a newline the end of a line. */
    private static byte[] neutral(byte[] modes, boolean lines) {
        byte[] neutral = modes.clone();
        clear(neutral, IFLAG, -1);
        clear(neutral, LFLAG, -1);
        neutral[LFLAG] = (byte) (lines ? ICANON : 0);
        for (int i = 0; i < CONTROL_BYTES; i++) {
            neutral[CONTROL + i] = 0; // _POSIX_VDISABLE
        }
        if (!lines) {
            neutral[CONTROL + VTIME] = 0;
            neutral[CONTROL + VMIN] = 1;
        }
        return neutral;
    }

    private static void clear(byte[] modes, int at, int flags) {
        for (int i = 0; i < 4; i++) {
            modes[at + i] &= (byte) ~(flags >> 8 * i);
        }
    }

    private static byte[] take(int fd) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (readable(fd)) {
            MemorySegment data = Scratch.data();
            LinuxError.check(ioctl(fd, FIONREAD, data.address()), "bytes in a terminal");
            int waiting = data.get(JAVA_INT, 0);
            if (waiting <= 0) {
                break; // it is readable because the other end was closed
            }
            int n = (int) LinuxError.check(Syscall.call(Syscall.READ, fd, data.address(), Math.min(waiting, 4096)),
                    "read of a terminal");
            all.write(data.asSlice(0, n).toArray(JAVA_BYTE), 0, n);
        }
        return all.toByteArray();
    }

    /** Writes to {@code fd}; {@code slave} is let go where its output was stopped (^S), and stopped again. */
    private static void put(int fd, int slave, byte[] bytes) {
        boolean stopped = false;
        for (int at = 0; at < bytes.length;) {
            if ((poll(fd, POLLOUT, stopped ? NOBODY_READS_MS : 0) & POLLOUT) == 0) {
                if (stopped) {
                    throw new LinuxError("put " + (bytes.length - at) + " bytes back into a terminal",
                            LinuxError.EAGAIN);
                }
                LinuxError.check(ioctl(slave, TCXONC, TCOON), "let a terminal's output go");
                stopped = true;
                continue;
            }
            int piece = Math.min(PIECE, bytes.length - at);
            MemorySegment.copy(bytes, at, Scratch.data(), JAVA_BYTE, 0, piece);
            at += (int) LinuxError.check(Syscall.call(Syscall.WRITE, fd, Scratch.data().address(), piece),
                    "write to a terminal");
        }
        if (stopped) {
            LinuxError.check(ioctl(slave, TCXONC, TCOOFF), "stop a terminal's output again");
        }
    }

    private static int poll(int fd, int events, int milliseconds) {
        MemorySegment entry = Scratch.data();
        entry.set(JAVA_INT, 0, fd);
        entry.set(JAVA_INT, 4, events);
        LinuxError.check(Syscall.call(POLL, entry.address(), 1, milliseconds), "poll of a terminal");
        return entry.get(JAVA_SHORT, 6);
    }

    private static int get(int fd, int request, String what) {
        LinuxError.check(ioctl(fd, request, Scratch.data().address()), what + " of a terminal");
        return Scratch.data().get(JAVA_INT, 0);
    }

    private static void set(int fd, int request, int value, String what) {
        Scratch.data().set(JAVA_INT, 0, value);
        LinuxError.check(ioctl(fd, request, Scratch.data().address()), "set the " + what + " of a terminal");
    }

    private static long ioctl(int fd, int request, long argument) {
        return Syscall.call(Syscall.IOCTL, fd, Integer.toUnsignedLong(request), argument);
    }
}
