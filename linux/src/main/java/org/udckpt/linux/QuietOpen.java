package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.O_NOATIME;
import static org.udckpt.linux.LinuxConstants.POLLIN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Opens a file or directory for reading without an event for whoever watches it (inotify(7), fanotify(7)); reading and
 * closing it makes none either.
 *
 * <p>fanotify hands its listeners descriptors whose use it does not report, and a listener that decides on opens gets
 * one before the file counts as opened. So this process asks to decide on opens of that one file, tries to open it,
 * takes the descriptor, and denies itself the open. Others who open the file in that moment are let through, also if
 * this process ends then. Needs CAP_SYS_ADMIN.
 */
public final class QuietOpen {
    private static final int FANOTIFY_INIT = 300, FANOTIFY_MARK = 301, POLL = 7;
    /** FAN_CLOEXEC, FAN_NONBLOCK, FAN_CLASS_CONTENT, FAN_REPORT_TID; FAN_MARK_ADD; FAN_OPEN_PERM, FAN_ONDIR. */
    private static final int GROUP = 1 | 2 | 4 | 0x100, MARK_ADD = 1, OPENS = 0x10000, DIRECTORIES = 0x4000_0000;
    private static final int ALLOW = 1, DENY = 2, EVENT_BYTES = 24, EVENT_FD = 16, EVENT_TID = 20, QUEUE = 4096;
    private static final int TICK_MS = 5;
    private static final int NONE = -1;

    private final int group;
    private final int tid = (int) Syscall.call(Syscall.GETTID);
    private volatile boolean tried;
    private int opened = NONE;

    private QuietOpen(int group) {
        this.group = group;
    }

    /**
     * A descriptor, or {@code -errno}: EPERM where this process may not, EINVAL where this kernel or file system
     * cannot. A lease on the file is broken by this as by any open.
     *
     * @param path of a regular file or a directory; links are followed
     */
    public static long tryOpen(String path) {
        long group = Syscall.call(FANOTIFY_INIT, GROUP,
                Syscall.O_RDONLY | Syscall.O_CLOEXEC | O_NOATIME | Syscall.O_LARGEFILE);
        if (group < 0) {
            return group;
        }
        try {
            long marked =
                    Syscall.call(FANOTIFY_MARK, group, MARK_ADD, OPENS | DIRECTORIES, AT_FDCWD, Scratch.string(path));
            return marked < 0 ? marked : new QuietOpen((int) group).open(path);
        } finally {
            Files.close((int) group);
        }
    }

    /**
     * The same where this process can, else opened as by anybody: for files that programs use and do not watch.
     *
     * @throws LinuxError it cannot be opened
     */
    public static int openIfPossible(String path) {
        long quiet = tryOpen(path);
        return quiet >= 0 ? (int) quiet : Files.open(path, Syscall.O_RDONLY | Syscall.O_NONBLOCK);
    }

    private long open(String path) {
        Thread listener = Thread.ofPlatform().daemon().name("udckpt-quiet-open").start(this::listen);
        long result = Files.tryOpen(path, Syscall.O_RDONLY | Syscall.O_NONBLOCK);
        tried = true;
        try {
            listener.join();
        } catch (InterruptedException e) {
            // it ends within a tick, and reads nothing of this object afterwards that matters
            Thread.currentThread().interrupt();
        }
        if (opened == NONE) {
            // it failed for a reason of its own, before anybody was asked; or it opened another file, which had come to
            // this name
            return result;
        }
        if (result >= 0) {
            Files.close((int) result);
        }
        return opened;
    }

    private void listen() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wait = arena.allocate(8); // struct pollfd
            MemorySegment events = arena.allocate(QUEUE, 8);
            wait.set(JAVA_INT, 0, group);
            wait.set(JAVA_INT, 4, POLLIN);
            while (opened == NONE) {
                boolean last = tried;
                Syscall.call(POLL, wait.address(), 1, last ? 0 : TICK_MS);
                long bytes = Syscall.call(Syscall.READ, group, events.address(), QUEUE);
                for (long at = 0; at + EVENT_BYTES <= bytes; at += Integer.toUnsignedLong(events.get(JAVA_INT, at))) {
                    answer(events.asSlice(at, EVENT_BYTES));
                }
                if (last && bytes <= 0) {
                    return;
                }
            }
        }
    }

    /** @param event struct fanotify_event_metadata */
    private void answer(MemorySegment event) {
        int fd = event.get(JAVA_INT, EVENT_FD);
        boolean own = event.get(JAVA_INT, EVENT_TID) == tid && opened == NONE;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment response = arena.allocate(8); // struct fanotify_response
            response.set(JAVA_INT, 0, fd);
            response.set(JAVA_INT, 4, own ? DENY : ALLOW);
            if (own) {
                opened = fd;
            }
            Syscall.call(Syscall.WRITE, group, response.address(), 8);
        }
        if (!own && fd >= 0) {
            Files.close(fd);
        }
    }
}
