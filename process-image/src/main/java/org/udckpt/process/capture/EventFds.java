package org.udckpt.process.capture;

import org.udckpt.layout.Layout;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject.EventFd;

/** eventfd(2): its counter is in fdinfo, and since Linux 6.5 whether it counts down one by one. */
final class EventFds {
    private static final int F_GETSIG = 11;

    private EventFds() {}

    static EventFd read(OpenDescriptor open, long id) {
        boolean semaphore = open.info().contains("eventfd-semaphore:") ? open.number("eventfd-semaphore:", 10) != 0 : isMarked(open);
        return new EventFd(id, open.openFlags(), open.number("eventfd-count:", 16), semaphore);
    }

    /** The library has marked it when it was made, and a restart when it made it again. */
    private static boolean isMarked(OpenDescriptor open) {
        try (PidFd process = new PidFd(open.process().pid)) {
            int same = process.duplicate(open.fd());
            try {
                return LinuxError.check(Syscall.call(Syscall.FCNTL, same, F_GETSIG), "mark of an eventfd") == Layout.EVENTFD_SEMAPHORE_MARK;
            } finally {
                Files.close(same);
            }
        }
    }
}
