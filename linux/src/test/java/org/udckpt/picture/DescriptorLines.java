package org.udckpt.picture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.Terminal;

/**
 * Of each descriptor: what it is and with whom it is shared, fdinfo, the file's stat(2), and what fcntl(2) and ioctl(2)
 * tell of it.
 */
final class DescriptorLines {
    private static final Pattern NUMBERED = Pattern.compile("(socket|pipe|anon_inode):\\[(\\d+)\\]");
    private static final int F_GETSIG = 11, F_GETOWN_EX = 16, F_GETLEASE = 1025, F_GETPIPE_SZ = 1032,
            F_GET_SEALS = 1034, F_GET_RW_HINT = 1035, FIONREAD = 0x541b;
    private static final int TCGETS2 = 0x802c542a, TERMIOS2_BYTES = 44, TIOCGWINSZ = 0x5413;
    private static final int KCMP_FILE = 0, LESS = 1, O_PATH = Syscall.O_PATH;

    private DescriptorLines() {}

    /** The first descriptor of an open file description that was met, and the name of that. */
    private record Shared(int pid, int fd, String name) {}

    static void add(Picture picture, int pid) {
        if (Pids.zombie(pid)) {
            return;
        }
        String who = picture.pids().name(pid);
        try (ProcessHandleFd process = new ProcessHandleFd(Proc.living(pid))) {
            for (int fd : IntStream.of(Proc.descriptors(process.pid())).sorted().toArray()) {
                one(picture, process, fd, who + " fd " + fd);
            }
        }
    }

    private static void one(Picture picture, ProcessHandleFd process, int fd, String about) {
        String path = "/proc/" + process.pid() + "/fd/" + fd;
        String link = Files.readLink(path);
        if (picture.launchers(link)) {
            picture.add(about + " link", "a stream of the launcher");
            return;
        }
        picture.add(about + " description", picture.description(process.pid(), fd, link));
        information(picture, process.pid(), fd, about);
        long flags = flags(process.pid(), fd);
        int mode = stat(picture, path, link, about);
        picture.add(about + " link" + ((mode & Files.Stat.TYPE) == Files.Stat.CHARACTER ? " of a device" : ""),
                named(picture, path, link, mode));
        if ((flags & O_PATH) == 0) {
            int own = process.duplicate(fd);
            try {
                asked(picture, own, mode, link, about);
            } finally {
                Files.close(own);
            }
        }
    }

    /** A FIFO without a name is a pipe. */
    private static String named(Picture picture, String path, String link, int mode) {
        if ((mode & Files.Stat.TYPE) == Files.Stat.FIFO && link.endsWith(" (deleted)")) {
            return "pipe:[" + picture.name("pipe", link + Files.stat(path).inode()) + "]";
        }
        Matcher matcher = NUMBERED.matcher(link);
        return matcher.matches() ? matcher.group(1) + ":[" + picture.name(matcher.group(1), matcher.group(2)) + "]"
                : link;
    }

    private static long flags(int pid, int fd) {
        return Long.parseLong(Proc.field(Proc.text("/proc/" + pid + "/fdinfo/" + fd), "flags:"), 8);
    }

    private static void information(Picture picture, int pid, int fd, String about) {
        for (String line : Proc.text("/proc/" + pid + "/fdinfo/" + fd).split("\n")) {
            String[] words = line.split("[: ]", 2);
            String name = words[0], said = words.length > 1 ? words[1].strip() : "";
            if (name.equals("lock")) {
                said = lock(picture, said);
            } else if (name.equals("tfd") || name.equals("inotify") || name.equals("fanotify")) {
                // a file system without a disk has another number with each mount
                said = said.replaceFirst("\\bino:\\w+", "").replaceFirst("f_handle:\\w+", "")
                        .replaceFirst("\\bsdev:\\w{1,5}\\b", "sdev");
            } else if (name.equals("eventfd-id")) {
                said = picture.name(name, said);
            }
            picture.add(about + " fdinfo " + name, said);
        }
    }

    /** proc_pid_fdinfo(5), as /proc/locks: "1: POSIX ADVISORY WRITE 359 08:03:26 0 EOF". */
    private static String lock(Picture picture, String said) {
        String[] words = said.split("\\s+");
        words[0] = "";
        words[4] = words[4].equals("-1") ? words[4] : picture.pids().name(Integer.parseInt(words[4]));
        words[5] = "";
        return String.join(" ", words).strip();
    }

    private static int stat(Picture picture, String path, String link, String about) {
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.STAT, Scratch.string(path), data.address()), "stat " + path);
        long size = data.get(JAVA_LONG, 48);
        int mode = data.get(JAVA_INT, 24);
        String subject = about + " stat " + kind(mode, link) + " ";
        picture.add(subject + "mode", Integer.toOctalString(mode));
        picture.add(subject + "owner", data.get(JAVA_INT, 28) + ":" + data.get(JAVA_INT, 32));
        picture.add(subject + "links", Long.toString(data.get(JAVA_LONG, 16)));
        picture.add(subject + "rdev", Long.toHexString(data.get(JAVA_LONG, 40)));
        picture.add(subject + "size", Long.toString(size));
        picture.add(subject + "atime", data.get(JAVA_LONG, 72) + "." + data.get(JAVA_LONG, 80));
        picture.add(subject + "mtime", data.get(JAVA_LONG, 88) + "." + data.get(JAVA_LONG, 96));
        picture.add(subject + "ctime", data.get(JAVA_LONG, 104) + "." + data.get(JAVA_LONG, 112));
        return mode;
    }

    private static String kind(int mode, String link) {
        boolean namespace = link.matches("[a-z]+:\\[\\d+\\]") && (mode & Files.Stat.TYPE) == Files.Stat.REGULAR;
        return namespace || link.startsWith("/proc/") || link.startsWith("/sys/") ? "kernel's"
                : link.startsWith("/memfd:") || link.equals("/dev/zero (deleted)") ? "memory"
                        : switch (mode & Files.Stat.TYPE) {
                            case Files.Stat.REGULAR -> link.lastIndexOf('/') == 0 ? "queue" : "file";
                            case Files.Stat.DIRECTORY -> "directory";
                            case Files.Stat.SOCKET -> "socket";
                            case Files.Stat.FIFO -> "fifo";
                            case Files.Stat.CHARACTER -> "device";
                            default -> "other";
                        };
    }

    /** Calls that change nothing, on a duplicate. */
    private static void asked(Picture picture, int fd, int mode, String link, String about) {
        MemorySegment data = Scratch.data();
        picture.add(about + " F_GETSIG", result(Syscall.call(Syscall.FCNTL, fd, F_GETSIG, 0)));
        long owner = Syscall.call(Syscall.FCNTL, fd, F_GETOWN_EX, data.address());
        picture.add(about + " F_GETOWN_EX",
                owner != 0 ? result(owner) : data.get(JAVA_INT, 0) + " " + picture.pids().name(data.get(JAVA_INT, 4)));
        switch (mode & Files.Stat.TYPE) {
            case Files.Stat.REGULAR -> {
                picture.add(about + " F_GETLEASE", result(Syscall.call(Syscall.FCNTL, fd, F_GETLEASE, 0)));
                picture.add(about + " F_GET_SEALS", result(Syscall.call(Syscall.FCNTL, fd, F_GET_SEALS, 0)));
                long hint = Syscall.call(Syscall.FCNTL, fd, F_GET_RW_HINT, data.address());
                picture.add(about + " F_GET_RW_HINT", hint != 0 ? result(hint) : Long.toString(data.get(JAVA_LONG, 0)));
            }
            case Files.Stat.FIFO -> {
                picture.add(about + " F_GETPIPE_SZ", result(Syscall.call(Syscall.FCNTL, fd, F_GETPIPE_SZ, 0)));
                picture.add(about + " FIONREAD", unread(fd));
            }
            case Files.Stat.SOCKET -> picture.networks().in(fd, () -> SocketLines.add(picture, fd, link, about));
            case Files.Stat.CHARACTER -> terminal(picture, fd, about);
            default -> {
            }
        }
    }

    /** A driver that has no modes says ENOTTY. */
    private static void terminal(Picture picture, int fd, String about) {
        MemorySegment data = Scratch.data();
        for (int[] ask : new int[][]{{TCGETS2, TERMIOS2_BYTES}, {TIOCGWINSZ, Terminal.WINDOW_BYTES}}) {
            data.asSlice(0, 64).fill((byte) 0);
            long result = Syscall.call(Syscall.IOCTL, fd, ask[0], data.address());
            picture.add(about + " ioctl " + Integer.toHexString(ask[0]), result != 0 ? result(result)
                    : HexFormat.of().formatHex(data.asSlice(0, ask[1]).toArray(JAVA_BYTE)));
        }
        picture.add(about + " FIONREAD", unread(fd));
    }

    static String unread(int fd) {
        MemorySegment data = Scratch.data();
        long result = Syscall.call(Syscall.IOCTL, fd, FIONREAD, data.address());
        return result != 0 ? result(result) : Integer.toString(data.get(JAVA_INT, 0));
    }

    static String result(long result) {
        return result < 0 ? LinuxError.name((int) -result) : Long.toString(result);
    }

    /**
     * Open file descriptions (kcmp(2)): two descriptors have the same name where they have the same position and flags
     * for good.
     */
    static final class Descriptions {
        private final Map<String, List<Shared>> met = new HashMap<>();
        private int count;

        String name(int pid, int fd, String link) {
            List<Shared> alike = met.computeIfAbsent(link, _ -> new ArrayList<>()); // in the kernel's order
            int low = 0;
            for (int high = alike.size(); low < high;) {
                Shared middle = alike.get((low + high) / 2);
                long order = LinuxError.check(Syscall.call(Syscall.KCMP, pid, middle.pid, KCMP_FILE, fd, middle.fd),
                        "kcmp of " + pid + " and " + middle.pid);
                if (order == 0) {
                    return middle.name;
                }
                high = order == LESS ? (low + high) / 2 : high;
                low = order == LESS ? low : (low + high) / 2 + 1;
            }
            alike.add(low, new Shared(pid, fd, "#" + ++count));
            return alike.get(low).name;
        }
    }
}
