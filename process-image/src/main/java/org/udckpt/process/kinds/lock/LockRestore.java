package org.udckpt.process.kinds.lock;

import static org.udckpt.linux.LinuxConstants.F_OFD_SETLK;
import static org.udckpt.linux.LinuxConstants.F_SETLK;
import static org.udckpt.linux.LinuxConstants.LOCK_NB;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/**
 * Takes locks again. A process that closes any descriptor of a file loses its locks on it (fcntl(2)): only when all
 * have their numbers.
 */
final class LockRestore implements KindRestore<FileLock> {
    private final RestoreScope scope;

    LockRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(FileLock.class)
                .forEach(lock -> lock(scope.process(lock.pid()), scope.descriptor(lock.pid(), lock.object()).fd(),
                        lock));
    }

    /** Takes a lock again that the job held; in the process that is to own it. */
    private static void lock(Maker maker, int fd, FileLock lock) {
        long result = switch (lock.owner()) {
            case FLOCK -> maker.tryCall(Syscall.FLOCK, fd, (lock.exclusive() ? 2 : 1) | LOCK_NB);
            case PROCESS -> maker.tryCall(Syscall.FCNTL, fd, F_SETLK, range(maker, lock));
            case DESCRIPTION -> maker.tryCall(Syscall.FCNTL, fd, F_OFD_SETLK, range(maker, lock));
        };
        if (result < 0) {
            throw maker.changed("cannot lock the file of descriptor " + fd + " again: "
                    + LinuxError.name((int) -result) + "; another process may hold the lock");
        }
    }

    /** struct flock: type, whence, start, length, pid (0 for F_OFD_SETLK). */
    private static long range(Maker maker, FileLock lock) {
        return maker.structure().i16(lock.exclusive() ? 1 : 0).i16(0).i32(0).i64(lock.start()).i64(lock.length())
                .i64(0).put();
    }
}
