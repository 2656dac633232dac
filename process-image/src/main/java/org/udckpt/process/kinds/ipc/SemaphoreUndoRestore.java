package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcMembers;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Has the kernel undo again, when a process ends, what it would have undone. */
final class SemaphoreUndoRestore implements KindRestore<SemaphoreUndo> {
    private static final int IPC_STAT = 2, CHANGED = 64, STATUS_BYTES = 104;

    private final RestoreScope scope;
    private final IpcMembers ipc;

    SemaphoreUndoRestore(RestoreScope scope) {
        this.scope = scope;
        this.ipc = new IpcMembers(scope);
    }

    /** When the library's memory is there, and no value is set any more. */
    @Override
    public void placed() {
        List<SemaphoreSet> sets = scope.objects(SemaphoreSet.class);
        for (SemaphoreUndo undo : scope.objects(SemaphoreUndo.class)) {
            SemaphoreSet set = sets.stream()
                    .filter(one -> one.ipcId() == undo.ipcId() && ipc.has(one.id(), undo.pid())).findFirst()
                    .orElseThrow(() -> scope.inconsistent("the image is inconsistent: it has no set of semaphores "
                            + undo.ipcId()));
            restore(undo, set);
        }
    }

    private void restore(SemaphoreUndo undo, SemaphoreSet set) {
        SemaphoreOperation operation = new SemaphoreOperation(set, undo.semaphoreNumber());
        Maker maker = scope.process(undo.pid());
        operation.undo(maker, undo.adjustment());
        int user = set.users().length == 0 ? 0 : set.users()[undo.semaphoreNumber()];
        if (user != 0) {
            operation.touch(ipc.user(set.id(), user));
        }
        long room = maker.bytes(new byte[STATUS_BYTES]);
        maker.call("look at System V semaphore set " + set.ipcId(), Syscall.SEMCTL, set.ipcId(), 0, IPC_STAT, room);
        long changed = ByteBuffer.wrap(maker.read(room + CHANGED, Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        scope.write(maker, undo.noteAddress(),
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(changed).array());
    }
}
