package org.udckpt.process.capture;

import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;

/** One descriptor of a stopped process, as /proc shows it. */
record OpenDescriptor(TracedProcess process, int fd, String link, String info, int flags, long position, Files.Stat stat) {
    private static final int CLOSE_ON_EXEC = 02000000, O_ASYNC = 020000;

    static OpenDescriptor of(TracedProcess process, int fd) {
        String path = "/proc/" + process.pid + "/fd/" + fd;
        String info = Proc.whole("/proc/" + process.pid + "/fdinfo/" + fd);
        String link = Files.readLink(path);
        Files.Stat stat = Files.tryStat(path);
        String gone = stat == null && link != null ? OpenedByName.goneOwner(link) : null;
        if (gone != null) {
            throw process.refuse(fd, gone + "; close it first");
        }
        return new OpenDescriptor(process, fd, link, info, Integer.parseInt(Proc.field(info, "flags:"), 8), Long.parseLong(Proc.field(info, "pos:")),
                stat != null ? stat : Files.stat(path));
    }

    /**
     * Equal for descriptors of one open file: what it is called, and, where all of a kind are called alike (anon_inode:[eventfd]), what fdinfo tells of
     * it. Not the flags, of which one belongs to the descriptor, nor what a clock changes.
     */
    String key() {
        boolean alike = link.equals("anon_inode:[eventfd]") || link.equals("anon_inode:[eventpoll]");
        return alike ? link + info.lines().filter(line -> !line.startsWith("flags:")).collect(Collectors.joining("\n")) : link;
    }

    boolean closeOnExec() {
        return (flags & CLOSE_ON_EXEC) != 0;
    }

    /** Of the open file, without the descriptor's own close-on-exec, and without what goes with {@link #signals}. */
    int openFlags() {
        return flags & ~(CLOSE_ON_EXEC | O_ASYNC);
    }

    /** Whether it sends signals when it is ready. */
    boolean signals() {
        return (flags & O_ASYNC) != 0;
    }

    boolean writable() {
        return (flags & 3) != 0;
    }

    String proc() {
        return "/proc/" + process.pid + "/fd/" + fd;
    }

    long number(String key, int radix) {
        String value = Proc.field(info, key);
        if (value == null) {
            throw refuse("this kernel does not tell " + key + " of " + link + " in /proc/PID/fdinfo, so that it cannot be checkpointed; close it first");
        }
        return Long.parseUnsignedLong(value, radix);
    }

    CaptureRefused refuse(String reason) {
        return process.refuse(fd, reason);
    }
}
