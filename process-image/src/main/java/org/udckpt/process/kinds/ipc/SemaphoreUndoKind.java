package org.udckpt.process.kinds.ipc;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** What the kernel does to semaphores when a process ends (SEM_UNDO): captured with the sets. */
public final class SemaphoreUndoKind implements ObjectKind<SemaphoreUndo> {
    @Override
    public Class<SemaphoreUndo> record() {
        return SemaphoreUndo.class;
    }

    @Override
    public String shown(SemaphoreUndo undo) {
        return "process %d, set %d, semaphore %d: %+d".formatted(undo.pid(), undo.ipcId(), undo.semaphoreNumber(),
                undo.adjustment());
    }

    @Override
    public void check(SemaphoreUndo undo, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(undo.pid()), "pid %d is not a process of the image", undo.pid());
        SemaphoreSet set = image.image().objects().stream().filter(SemaphoreSet.class::isInstance)
                .map(SemaphoreSet.class::cast).filter(one -> one.ipcId() == undo.ipcId()).findFirst().orElse(null);
        row.require(set != null && set.values() != null, "ipcId %d is not a set of semaphores", undo.ipcId());
        row.between(0, set.values().length - 1L, "semaphoreNumber", undo.semaphoreNumber());
        row.between(-SemaphoreSetKind.MOST_VALUE, SemaphoreSetKind.MOST_VALUE, "adjustment", undo.adjustment());
    }

    @Override
    public KindRestore<SemaphoreUndo> restore(RestoreScope scope) {
        return new SemaphoreUndoRestore(scope);
    }
}
