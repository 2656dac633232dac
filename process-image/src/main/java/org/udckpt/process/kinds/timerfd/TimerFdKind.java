package org.udckpt.process.kinds.timerfd;

import org.udckpt.process.kinds.base.AnonymousCapture;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/**
 * Timer descriptors (timerfd_create(2)): clock, flags, what is left, the interval, and expirations that were not read.
 */
public final class TimerFdKind implements DescriptorKind<TimerFd> {
    @Override
    public Class<TimerFd> record() {
        return TimerFd.class;
    }

    @Override
    public String shown(TimerFd timer) {
        return "clock " + timer.clock();
    }

    @Override
    public void check(TimerFd timer, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNegative("expiresNs", timer.expiresNs());
        row.notNegative("intervalNs", timer.intervalNs());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new AnonymousCapture("anon_inode:[timerfd]", scope, TimerFdCapture::read);
    }

    @Override
    public KindRestore<TimerFd> restore(RestoreScope scope) {
        return new TimerFdRestore();
    }
}
