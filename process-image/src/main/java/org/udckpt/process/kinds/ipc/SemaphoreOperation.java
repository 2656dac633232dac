package org.udckpt.process.kinds.ipc;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;

/** Operations that leave a semaphore's value as it is (semop(2)), but not what the kernel knows beside it. */
record SemaphoreOperation(SemaphoreSet set, int number) {
    private static final int IPC_NOWAIT = 04000, SEM_UNDO = 010000;

    /** {@code maker} is the last that changed it, and the set was operated on. */
    void touch(Maker maker) {
        pair(maker, value() == 0 ? 1 : -1, 0);
    }

    /** When {@code maker} ends, the kernel adds so much. */
    void undo(Maker maker, int adjustment) {
        if (adjustment != 0) {
            pair(maker, -adjustment, SEM_UNDO);
        }
    }

    private int value() {
        return set.values()[number];
    }

    /** There and back, in the order in which the value can be had in between. */
    private void pair(Maker maker, int change, int flags) {
        boolean there = value() + change >= 0 && value() + change <= SemaphoreSetKind.MOST_VALUE;
        int first = there ? change : -change;
        // struct sembuf[2]: number, operation, flags
        long operations = maker.structure().i16(number).i16(first).i16(IPC_NOWAIT | (there ? flags : 0))
                .i16(number).i16(-first).i16(IPC_NOWAIT | (there ? 0 : flags)).put();
        maker.call("operate on semaphore " + number + " of System V semaphore set " + set.ipcId(), Syscall.SEMOP,
                set.ipcId(), operations, 2);
    }
}
