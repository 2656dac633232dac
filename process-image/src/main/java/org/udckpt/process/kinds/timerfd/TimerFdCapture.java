package org.udckpt.process.kinds.timerfd;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.CLOCK_REALTIME;
import static org.udckpt.linux.LinuxConstants.CLOCK_REALTIME_ALARM;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Timer descriptors (timerfd_create(2)). */
final class TimerFdCapture {
    private static final int ABSOLUTE = 1;

    private TimerFdCapture() {}

    /**
     * A periodic timer that has expired stands still until it is looked at: timerfd_gettime(2) makes it count and go
     * on.
     */
    static TimerFd read(OpenDescriptor open, long id) {
        long value;
        long interval;
        long realtime;
        try (ProcessHandleFd process = new ProcessHandleFd(open.process().task())) {
            int timer = process.duplicate(open.fd());
            try {
                MemorySegment data = Scratch.data();
                LinuxError.check(Syscall.call(Syscall.CLOCK_GETTIME, CLOCK_REALTIME, data.address()), "clock_gettime");
                realtime = nanoseconds(data, 0);
                LinuxError.check(Syscall.call(Syscall.TIMERFD_GETTIME, timer, data.address()), "timerfd_gettime");
                interval = nanoseconds(data, 0);
                value = nanoseconds(data, 16);
            } finally {
                Files.close(timer);
            }
        }
        String info = Proc.text("/proc/" + open.process().task() + "/fdinfo/" + open.fd());
        int clock = (int) open.number("clockid:", 10);
        int flags = (int) open.number("settime flags:", 8);
        boolean wallTime = (flags & ABSOLUTE) != 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM);
        return new TimerFd(id, open.openFlags(), clock, flags, Long.parseLong(Proc.field(info, "ticks:")),
                wallTime && value != 0 ? realtime + value : value, interval);
    }

    private static long nanoseconds(MemorySegment data, long offset) {
        return data.get(JAVA_LONG, offset) * 1_000_000_000L + data.get(JAVA_LONG, offset + 8);
    }
}
