package org.udckpt.process.kinds.signal;

import static org.udckpt.linux.LinuxConstants.F_SETSIG;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;

/** Whom an open file signals, and by what (fcntl(2)). */
final class SignalReceiver {
    private static final int F_SETOWN_EX = 15;

    private SignalReceiver() {}

    static void set(Maker maker, int fd, int signal, int type, int receiver) {
        maker.call("F_SETSIG", Syscall.FCNTL, fd, F_SETSIG, signal);
        maker.call("F_SETOWN_EX to " + receiver, Syscall.FCNTL, fd, F_SETOWN_EX,
                maker.structure().i32(type).i32(receiver).put());
    }
}
