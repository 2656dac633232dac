package org.udckpt.process.kinds.lock;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Locks on files (flock(2), fcntl(2)). */
public final class FileLockKind implements ObjectKind<FileLock> {
    @Override
    public Class<FileLock> record() {
        return FileLock.class;
    }

    @Override
    public String shown(FileLock lock) {
        return "";
    }

    @Override
    public void check(FileLock lock, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.canBeOpen(lock.object()), CheckedImage.CANNOT_BE_OPEN, lock.object());
        row.notNull("owner", lock.owner());
        row.require(lock.owner() != LockOwner.PROCESS || image.process(lock.pid()),
                "pid %d is not a process of the image", lock.pid());
        row.notNegative("start", lock.start());
        row.between(0, Long.MAX_VALUE - lock.start(), "length", lock.length());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new LockCapture(scope);
    }

    @Override
    public KindRestore<FileLock> restore(RestoreScope scope) {
        return new LockRestore(scope);
    }
}
