package org.udckpt.process.kinds.timerfd;

import static org.udckpt.linux.LinuxConstants.CLOCK_REALTIME;
import static org.udckpt.linux.LinuxConstants.CLOCK_REALTIME_ALARM;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;

/** Makes timer descriptors. */
final class TimerFdRestore implements KindRestore<TimerFd> {
    /** _IOW('T', 0, u64), linux/timerfd.h. */
    private static final long TFD_IOC_SET_TICKS = 0x4008_5400L;

    @Override
    public long make(Maker maker, TimerFd timer) {
        long fd = maker.call(
                "timerfd_create", Syscall.TIMERFD_CREATE, timer.clock(), KindRestore.nonBlocking(timer.flags()));
        boolean wallTime = timer.clock() == CLOCK_REALTIME || timer.clock() == CLOCK_REALTIME_ALARM;
        arm(maker, timer, fd, timer.expiresNs(), wallTime ? timer.settimeFlags() : 0);
        if (timer.ticks() > 0) {
            long set = maker.tryCall(Syscall.IOCTL, fd, TFD_IOC_SET_TICKS, maker.structure().i64(timer.ticks()).put());
            // a kernel without CONFIG_CHECKPOINT_RESTORE: it expires at once, so that it is readable as it was
            if (set == -LinuxError.ENOTTY) {
                arm(maker, timer, fd, 1, 0);
            } else {
                LinuxError.check(set, maker.name() + ": expirations of a timer descriptor");
            }
        }
        return fd;
    }

    @Override
    public int flags(TimerFd timer) {
        return timer.flags();
    }

    private static void arm(Maker maker, TimerFd timer, long fd, long expires, int flags) {
        if (expires != 0) {
            long value = maker.structure().time(timer.intervalNs()).time(expires).put();
            maker.call("timerfd_settime", Syscall.TIMERFD_SETTIME, fd, flags, value, 0);
        }
    }
}
