package org.udckpt.process.kinds.epoll;

import static org.udckpt.linux.LinuxConstants.F_DUPFD_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.F_GETFD;
import static org.udckpt.linux.LinuxConstants.F_SETFL;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Makes epoll descriptors, and watches again when all that they watch is there. */
final class EpollRestore implements KindRestore<Epoll> {
    private static final int EPOLL_CTL_ADD = 1;

    private final RestoreScope scope;

    EpollRestore(RestoreScope scope) {
        this.scope = scope;
    }

    /** Restores flags that epoll itself never reads: libudckpt.so's channels keep the job's O_NONBLOCK there. */
    @Override
    public long make(Maker maker, Epoll epoll) {
        long fd = maker.call("epoll_create1", Syscall.EPOLL_CREATE1, 0);
        if (KindRestore.nonBlocking(epoll.flags()) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, F_SETFL, Syscall.O_NONBLOCK);
        }
        return fd;
    }

    @Override
    public int flags(Epoll epoll) {
        return epoll.flags();
    }

    @Override
    public void connect() {
        scope.objects(EpollEntry.class).forEach(this::watch);
    }

    /**
     * An epoll entry is keyed by open file and descriptor number, and lives as long as the file does (epoll(7), Q6). So
     * the file is put under that number for a moment: whatever the number stands for in the end, the entry is as it
     * was.
     */
    private void watch(EpollEntry entry) {
        if (entry.object() == 0) {
            return; // the library's own: watched again after REBUILD
        }
        Maker maker = scope.process(entry.pid());
        long epoll = scope.made().in(maker, entry.epoll());
        long object = scope.made().in(maker, entry.object());
        if (object == entry.fd()) {
            watch(maker, epoll, entry);
            return;
        }
        if (maker.tryCall(Syscall.FCNTL, entry.fd(), F_GETFD) == -LinuxError.EBADF) {
            maker.call("dup3", Syscall.DUP3, object, entry.fd(), Syscall.O_CLOEXEC);
            watch(maker, epoll, entry);
            maker.call("close", Syscall.CLOSE, entry.fd()); // the entry goes on with the duplicate
            return;
        }
        long there = maker.call("keep descriptor " + entry.fd(), Syscall.FCNTL, entry.fd(), F_DUPFD_CLOEXEC, 0);
        maker.call("dup3", Syscall.DUP3, object, entry.fd(), Syscall.O_CLOEXEC);
        watch(maker, epoll, entry);
        maker.call("descriptor " + entry.fd() + " again", Syscall.DUP3, there, entry.fd(), Syscall.O_CLOEXEC);
        maker.call("close", Syscall.CLOSE, there);
    }

    private static void watch(Maker maker, long epoll, EpollEntry entry) {
        long event = maker.structure().i32(entry.events()).i64(entry.data()).put();
        maker.call("watch descriptor " + entry.fd() + " by epoll", Syscall.EPOLL_CTL, epoll, EPOLL_CTL_ADD, entry.fd(),
                event);
    }
}
