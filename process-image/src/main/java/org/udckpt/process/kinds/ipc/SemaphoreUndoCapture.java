package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.udckpt.layout.Layout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.ObjectTable;

/**
 * What the kernel will do to semaphores when processes end. It shows that to nobody, so the preloaded library counts it
 * (interposer_semaphores.c); whether it has anything to do at all is told by kcmp(2).
 */
final class SemaphoreUndoCapture {
    private static final String SYMBOL = "udckpt_semaphore_undos";
    /** Field 4 of proc_pid_stat(5), from the third on. */
    private static final int PARENT = 1;
    private static final int KCMP_SYSVSEM = 6, SEMTIMEDOP = 220, HEADER_BYTES = Layout.SemaphoreUndos.ENTRIES;

    /** When each of the job's sets was set last, in seconds since 1970. */
    private final Map<Integer, Long> changes;
    private final boolean used;
    private final ObjectTable table;

    /** @param used whether the job has certainly used a set, and not only perhaps */
    SemaphoreUndoCapture(Map<Integer, Long> changes, boolean used, ObjectTable table) {
        this.changes = changes;
        this.used = used;
        this.table = table;
    }

    void read(List<AskedProcess> processes) {
        for (AskedProcess process : changes.isEmpty() ? List.<AskedProcess>of() : processes) {
            long address = process.libraryData(SYMBOL, Layout.SemaphoreUndos.SIZE);
            if (address != 0) {
                read(process, address);
            } else if (used) {
                refuseUncounted(process, Integer.parseInt(Proc.stat(processes.getFirst().pid())[PARENT]));
            }
        }
    }

    /** As what has started the job, which has never used SEM_UNDO nor has threads, or it may have something to undo. */
    private static void refuseUncounted(AskedProcess process, int starter) {
        long order = LinuxError.check(Syscall.call(Syscall.KCMP, process.task(), starter, KCMP_SYSVSEM, 0, 0),
                "kcmp of semaphores");
        if (order != 0) {
            throw process.refuse("the job has System V semaphores, and this process may have changed some with SEM_UNDO"
                    + " (semop(2)), which the kernel does not show and only the preloaded library counts; link it"
                    + " dynamically, or remove the semaphores first (ipcrm -s)");
        }
    }

    private void read(AskedProcess process, long address) {
        ByteBuffer undos = ByteBuffer.wrap(process.read(address, Layout.SemaphoreUndos.SIZE))
                .order(ByteOrder.LITTLE_ENDIAN);
        if (undos.getInt(Layout.SemaphoreUndos.PENDING) > process.failedCalls(Syscall.SEMOP, SEMTIMEDOP)) {
            throw process.failed("a thread has just changed a semaphore (semop(2)), and has not noted it yet");
        }
        if (undos.getInt(Layout.SemaphoreUndos.PID) != process.ownPid()) {
            return;
        }
        if (undos.getLong(Layout.SemaphoreUndos.LOST) != 0) {
            throw process.refuse("it has used SEM_UNDO (semop(2)) with more than " + Layout.SEMAPHORE_UNDOS
                    + " semaphores, more than are counted; use fewer of them");
        }
        for (int i = 0; i < Layout.SEMAPHORE_UNDOS; i++) {
            int at = HEADER_BYTES + i * Layout.SemaphoreUndo.SIZE;
            add(process, undos, at, address + at + Layout.SemaphoreUndo.CHANGED);
        }
    }

    private void add(AskedProcess process, ByteBuffer undos, int at, long note) {
        long key = undos.getLong(at + Layout.SemaphoreUndo.KEY);
        int set = (int) (key >>> 32);
        Long changed = key == 0 ? null : changes.get(set); // null: it was removed since
        if (changed == null) {
            return;
        }
        if (changed != undos.getLong(at + Layout.SemaphoreUndo.CHANGED)) {
            throw process.refuse("it has used SEM_UNDO (semop(2)) with System V semaphore set " + set
                    + ", which was set since then (semctl(2)): what the kernel will undo is not known; set semaphores"
                    + " before they are used, or do without SEM_UNDO");
        }
        table.add(new SemaphoreUndo(table.newId(), process.namespacePid(), set, (int) key - 1,
                undos.getInt(at + Layout.SemaphoreUndo.SUM), note));
    }
}
