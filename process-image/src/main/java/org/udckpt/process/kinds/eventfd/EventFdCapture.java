package org.udckpt.process.kinds.eventfd;

import static org.udckpt.linux.LinuxConstants.F_GETSIG;

import org.udckpt.layout.Layout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** eventfd(2): its counter is in fdinfo, and since Linux 6.5 whether it counts down one by one. */
final class EventFdCapture {
    private EventFdCapture() {}

    static EventFd read(OpenDescriptor open, long id) {
        boolean semaphore = open.info().contains("eventfd-semaphore:") ? open.number("eventfd-semaphore:", 10) != 0
                : isMarked(open);
        return new EventFd(id, open.openFlags(), open.number("eventfd-count:", 16), semaphore);
    }

    /** The library has marked it when it was made, and a restart when it made it again. */
    private static boolean isMarked(OpenDescriptor open) {
        return open
                .duplicated(same -> LinuxError.check(Syscall.call(Syscall.FCNTL, same, F_GETSIG), "mark of an eventfd")
                        == Layout.EVENTFD_SEMAPHORE_MARK);
    }
}
