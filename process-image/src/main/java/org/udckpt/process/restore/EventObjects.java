package org.udckpt.process.restore;

import org.udckpt.layout.Layout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject;

/** Makes event counters, timer and signal descriptors. */
final class EventObjects {
    private static final int F_SETSIG = 10;
    private static final int CLOCK_REALTIME = 0, CLOCK_REALTIME_ALARM = 8;
    /** _IOW('T', 0, u64), linux/timerfd.h. */
    private static final long TFD_IOC_SET_TICKS = 0x4008_5400L;

    private EventObjects() {}

    static long event(Puppet maker, KernelObject.EventFd event) {
        int flags = event.flags() & Syscall.O_NONBLOCK | (event.semaphore() ? 1 : 0);
        long fd = maker.call("eventfd2", Syscall.EVENTFD2, 0, flags);
        if (event.count() != 0) { // the initial value has 32 bits, the counter 64
            maker.call("set an eventfd", Syscall.WRITE, fd, maker.structure().i64(event.count()).put(), 8);
        }
        if (event.semaphore()) { // as the library does, for the next checkpoint on a kernel before 6.5
            maker.call("mark an eventfd", Syscall.FCNTL, fd, F_SETSIG, Layout.EVENTFD_SEMAPHORE_MARK);
        }
        return fd;
    }

    static long timer(Puppet maker, KernelObject.TimerFd timer) {
        long fd = maker.call("timerfd_create", Syscall.TIMERFD_CREATE, timer.clock(), timer.flags() & Syscall.O_NONBLOCK);
        boolean wallTime = timer.clock() == CLOCK_REALTIME || timer.clock() == CLOCK_REALTIME_ALARM;
        arm(maker, timer, fd, timer.expiresNs(), wallTime ? timer.settimeFlags() : 0);
        if (timer.ticks() > 0) {
            long set = maker.tryCall(Syscall.IOCTL, fd, TFD_IOC_SET_TICKS, maker.structure().i64(timer.ticks()).put());
            if (set == -LinuxError.ENOTTY) { // a kernel without CONFIG_CHECKPOINT_RESTORE: it expires at once, so that it is readable as it was
                arm(maker, timer, fd, 1, 0);
            } else {
                LinuxError.check(set, maker.name() + ": expirations of a timer descriptor");
            }
        }
        return fd;
    }

    private static void arm(Puppet maker, KernelObject.TimerFd timer, long fd, long expires, int flags) {
        if (expires != 0) {
            long value = maker.structure().time(timer.intervalNs()).time(expires).put();
            maker.call("timerfd_settime", Syscall.TIMERFD_SETTIME, fd, flags, value, 0);
        }
    }

    static long signals(Puppet maker, KernelObject.SignalFd signals) {
        return maker.call("signalfd4", Syscall.SIGNALFD4, -1, maker.structure().i64(signals.mask()).put(), 8, signals.flags() & Syscall.O_NONBLOCK);
    }
}
