package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;
import static org.udckpt.linux.LinuxConstants.MFD_CLOEXEC;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * Has an inotify descriptor say that events were lost (IN_Q_OVERFLOW, inotify(7)), which programs know how to take:
 * they look for themselves. The kernel says it when the queue is full. So the queue is filled with changes of the modes
 * of two files in turn (equal events in a row count as one), and all but the last event is taken out again: 20 ms for
 * the usual queue of 16384.
 */
final class InotifyOverflow implements AutoCloseable {
    private static final int ADD = 254, REMOVE = 255, IN_ATTRIB = 4, EVENT_BYTES = 16;
    private static final String LENGTH = "/proc/sys/fs/inotify/max_queued_events";

    private final int inotify;
    private final int[] files = new int[2];
    private final long[] watches = new long[2];

    private InotifyOverflow(int inotify) {
        this.inotify = inotify;
        for (int i = 0; i < files.length; i++) {
            files[i] = (int) LinuxError.check(
                    Syscall.call(Syscall.MEMFD_CREATE, Scratch.string("udckpt-events"), MFD_CLOEXEC),
                    "memfd_create");
            watches[i] =
                    LinuxError.check(Syscall.call(ADD, inotify, Scratch.string("/proc/self/fd/" + files[i]), IN_ATTRIB),
                            "inotify_add_watch");
        }
    }

    /** @param inotify a descriptor of this process, with an empty queue */
    static void tell(int inotify) {
        try (InotifyOverflow overflow = new InotifyOverflow(inotify)) {
            overflow.fill(Integer.parseInt(Proc.text(LENGTH).strip()));
        }
    }

    private void fill(int length) {
        for (int i = 0; i <= length; i++) {
            LinuxError.check(Syscall.call(Syscall.FCHMOD, files[i & 1], 0600), "fchmod");
        }
        if (unread() <= EVENT_BYTES * length) {
            throw new LinuxError("fill a queue of " + length + " events of inotify", LinuxError.EIO);
        }
        for (long watch : watches) {
            // its own event finds no room any more
            LinuxError.check(Syscall.call(REMOVE, inotify, watch), "inotify_rm_watch");
        }
        for (int bytes; (bytes = unread()) > EVENT_BYTES;) {
            LinuxError.check(Syscall.call(Syscall.READ, inotify, Scratch.data().address(),
                    Math.min(Scratch.DATA_BYTES, bytes - EVENT_BYTES)),
                    "read of events");
        }
    }

    private int unread() {
        LinuxError.check(Syscall.call(Syscall.IOCTL, inotify, FIONREAD, Scratch.data().address()),
                "events of an inotify descriptor");
        return Scratch.data().get(JAVA_INT, 0);
    }

    @Override
    public void close() {
        for (int file : files) {
            Files.close(file);
        }
    }
}
