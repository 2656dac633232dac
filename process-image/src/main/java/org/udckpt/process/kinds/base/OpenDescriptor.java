package org.udckpt.process.kinds.base;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.O_ASYNC;

import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * One descriptor of a stopped process, as /proc shows it.
 *
 * @param link what readlink(2) says of it in /proc/PID/fd
 * @param info its file in /proc/PID/fdinfo
 * @param flags of open(2), with the descriptor's own O_CLOEXEC
 */
public record OpenDescriptor(
        StoppedProcess process, int fd, String link, String info, int flags, long position, Files.Stat stat) {
    private static final String DELETED = " (deleted)";
    private static final int CLOSE_ON_EXEC = 02000000;
    /** FILENT_SIZE (ipc/mqueue.c); MQUEUE_MAGIC. */
    private static final long QUEUE_BYTES = 80, MQUEUE = 0x1980_0202;

    /**
     * Equal for descriptors of one open file: what it is called, and, where all of a kind are called alike
     * (anon_inode:[eventfd]), what fdinfo tells of it. Not the flags, of which one belongs to the descriptor, nor what
     * a clock changes.
     */
    public String key() {
        boolean alike = link.equals("anon_inode:[eventfd]") || link.equals("anon_inode:[eventpoll]");
        return alike ? link + info.lines().filter(line -> !line.startsWith("flags:")).collect(Collectors.joining("\n"))
                : link;
    }

    /** The descriptor is closed by execve(2). */
    public boolean closeOnExec() {
        return (flags & CLOSE_ON_EXEC) != 0;
    }

    /** Flags of the open file, without the descriptor's own close-on-exec and without O_ASYNC ({@link #signals}). */
    public int openFlags() {
        return flags & ~(CLOSE_ON_EXEC | O_ASYNC);
    }

    /** Whether it is a file of /proc or /sys. */
    public boolean pseudo() {
        return link.startsWith("/proc/") || link.startsWith("/sys/");
    }

    /** Whether it is a directory that has lost its name. */
    public boolean deletedDirectory() {
        return stat.type() == Files.Stat.DIRECTORY && stat.links() == 0 && link.startsWith("/")
                && link.endsWith(DELETED)
                && !pseudo();
    }

    /** Whether it is a handle of a symbolic link that has lost its name (O_PATH and O_NOFOLLOW). */
    public boolean deletedLink() {
        return onlyNames() && stat.type() == Files.Stat.LINK && stat.links() == 0 && link.startsWith("/")
                && link.endsWith(DELETED) && !pseudo();
    }

    /** Whether it is a handle (O_PATH) of a file that has lost the name by which it was opened, or never had one. */
    public boolean namelessFile() {
        return onlyNames() && stat.type() == Files.Stat.REGULAR && link.startsWith("/") && link.endsWith(DELETED)
                && !pseudo();
    }

    /** Whether it is a POSIX message queue (mq_overview(7)), which is a regular file of this size to stat(2). */
    public boolean messageQueue() {
        return stat.type() == Files.Stat.REGULAR && stat.size() == QUEUE_BYTES && link.startsWith("/") && !pseudo()
                && isQueues(proc());
    }

    /** Whether a path is on a file system of POSIX message queues. */
    public static boolean isQueues(String path) {
        return Syscall.call(Syscall.STATFS, Scratch.string(path), Scratch.data().address()) == 0
                && Scratch.data().get(JAVA_LONG, 0) == MQUEUE;
    }

    /** Its path, also of a file that was deleted. */
    public String name() {
        return name(link);
    }

    /** The path in a link of /proc, also of a file that was deleted. */
    public static String name(String link) {
        return link.endsWith(DELETED) ? link.substring(0, link.length() - DELETED.length()) : link;
    }

    /** Whether it only names something, which is not open (O_PATH). */
    public boolean onlyNames() {
        return (flags & Syscall.O_PATH) != 0;
    }

    /** Whether it sends signals when it is ready. */
    public boolean signals() {
        return (flags & O_ASYNC) != 0;
    }

    /** Whether it is open for writing. */
    public boolean writable() {
        return (flags & 3) != 0;
    }

    /** A path by which this process reaches it. */
    public String proc() {
        return "/proc/" + process.task() + "/fd/" + fd;
    }

    /** The number behind {@code key} in its fdinfo. */
    public long number(String key, int radix) {
        String value = Proc.field(info, key);
        if (value == null) {
            throw refuse("this kernel does not show " + key + " of " + link
                    + " in /proc/PID/fdinfo, so it cannot be checkpointed; close it first");
        }
        return Long.parseUnsignedLong(value, radix);
    }

    /** The error that it cannot be captured, which says what to do. */
    public RuntimeException refuse(String reason) {
        return process.refuse(fd, reason);
    }

    /** The error that it could not be captured now, and another capture may. */
    public RuntimeException failed(String reason) {
        return process.failed(fd, reason);
    }

    /** What {@code use} finds out by a duplicate of it in this process. */
    public <T> T duplicated(Use<T> use) {
        try (ProcessHandleFd handle = new ProcessHandleFd(process.task())) {
            int same = handle.duplicate(fd);
            try {
                return use.of(same);
            } finally {
                Files.close(same);
            }
        }
    }

    /** A question to a descriptor. */
    public interface Use<T> {
        /** Asks it. */
        T of(int fd);
    }
}
