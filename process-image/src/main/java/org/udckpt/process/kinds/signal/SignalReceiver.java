package org.udckpt.process.kinds.signal;

import static org.udckpt.linux.LinuxConstants.F_SETSIG;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Whom an open file signals, and by what (fcntl(2)). */
final class SignalReceiver {
    private static final int F_SETOWN_EX = 15;

    private SignalReceiver() {}

    /** @param scope has a process that knows the receiver, where one in a pid namespace of the job's own does not */
    static void set(RestoreScope scope, Maker maker, int fd, int signal, int type, int receiver) {
        maker.call("F_SETSIG", Syscall.FCNTL, fd, F_SETSIG, signal);
        Maker knows = receiver == 0 || maker.own(receiver) != 0 ? maker
                : scope.process(scope.image().processes().getFirst().pid());
        long there = knows == maker ? fd : knows.fetch(maker.pid(), fd);
        knows.call("F_SETOWN_EX to " + receiver, Syscall.FCNTL, there, F_SETOWN_EX,
                knows.structure().i32(type).i32(receiver == 0 ? 0 : knows.own(receiver)).put());
        if (knows != maker) {
            knows.call("close", Syscall.CLOSE, there);
        }
    }
}
