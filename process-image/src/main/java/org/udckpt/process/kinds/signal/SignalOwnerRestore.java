package org.udckpt.process.kinds.signal;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;

/** Sets the receivers of signals again, and takes leases, whose holders hear of it by a signal. */
final class SignalOwnerRestore implements KindRestore<SignalOwner> {
    private static final int F_SETLEASE = 1024;

    private final RestoreScope scope;

    SignalOwnerRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(SignalOwner.class)
                .forEach(
                        owner -> set(scope.descriptor(owner.object()), owner.signal(), owner.type(), owner.receiver()));
        scope.image()
                .notices()
                .stream()
                .filter(FileNotice.Lease.class::isInstance)
                .map(FileNotice.Lease.class::cast)
                .forEach(this::lease);
    }

    private Maker set(Descriptor any, int signal, int type, int receiver) {
        Maker maker = scope.process(any.pid());
        SignalReceiver.set(scope, maker, any.fd(), signal, type, receiver);
        return maker;
    }

    private void lease(FileNotice.Lease lease) {
        Descriptor any = scope.descriptor(lease.object());
        take(set(any, lease.signal(), lease.type(), lease.receiver()), any.fd(), lease.exclusive());
    }

    /**
     * Takes a lease again (fcntl(2), F_SETLEASE); in a process that has the file, which is the owner where nobody else
     * was named.
     */
    private static void take(Maker maker, int fd, boolean exclusive) {
        long result = maker.tryCall(Syscall.FCNTL, fd, F_SETLEASE, exclusive ? 1 /* F_WRLCK */ : 0 /* F_RDLCK */);
        if (result < 0) {
            throw maker.changed("cannot take the lease on the file of descriptor " + fd
                    + " again: " + LinuxError.name((int) -result) + "; another process may have it open");
        }
    }
}
