package org.udckpt.process.kinds.ipc;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** System V semaphores: numbers and keys, values, and who changed them last. */
public final class SemaphoreSetKind implements ObjectKind<SemaphoreSet> {
    /** SEMVMX of semctl(2). */
    static final int MOST_VALUE = 32_767;

    @Override
    public Class<SemaphoreSet> record() {
        return SemaphoreSet.class;
    }

    @Override
    public String shown(SemaphoreSet set) {
        return set.access().shown(set.ipcId());
    }

    @Override
    public void check(SemaphoreSet set, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNegative("ipcId", set.ipcId());
        row.between(0, 0777, "mode", set.mode());
        row.notNull("values", set.values());
        row.length("values", set.values().length, 1, SemaphoreSetCapture.MOST, 1);
        for (int value : set.values()) {
            row.between(0, MOST_VALUE, "values", value);
        }
        row.notNull("users", set.users());
        row.require(set.users().length == 0 || set.users().length == set.values().length,
                "users has length %d, but values %d", set.users().length, set.values().length);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new SemaphoreSetCapture(scope);
    }

    @Override
    public KindRestore<SemaphoreSet> restore(RestoreScope scope) {
        return new SemaphoreSetRestore(scope);
    }
}
