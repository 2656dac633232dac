package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.KernelObject;

/** Reads sets of semaphores (semctl(2)). */
final class SemaphoreSetCapture extends IpcCapture {
    /** The most that a restart can set: SEMMSL as the kernel has it, of which admins make more at times. */
    static final int MOST = 32_000;
    private static final int GETPID = 11, GETALL = 13, SEM_INFO = 19, SEM_STAT_ANY = 20;
    /** semusz of struct seminfo: sets that exist. */
    private static final int SETS = 28, INFO_BYTES = 40;
    /** struct semid64_ds (asm/sembuf.h). */
    private static final int OPERATED = 48, CHANGED = 64, COUNT = 80, STATUS_BYTES = 104;
    /** A call in a stopped process takes its time: of larger sets it is not asked who used which semaphore. */
    private static final int MOST_ASKED = 1024;

    private final ObjectTable table;
    /** When each of the job's in one namespace was set, by number. */
    private final Map<Integer, Long> changes = new HashMap<>();

    SemaphoreSetCapture(CaptureScope scope) {
        super(scope.table(), "System V semaphores", "sem_next_id");
        table = scope.table();
    }

    @Override
    public void ask(IpcGroup group) {
        changes.clear();
        super.ask(group);
        new SemaphoreUndoCapture(changes, used(), table).read(group.members());
    }

    @Override
    long info(IpcCalls calls) {
        return calls.call(Syscall.SEMCTL, 0, 0, SEM_INFO, calls.room(INFO_BYTES));
    }

    @Override
    int count(IpcCalls calls) {
        return calls.read(calls.room(INFO_BYTES), INFO_BYTES).getInt(SETS);
    }

    @Override
    Found status(IpcCalls calls, int index) {
        long id = calls.call(Syscall.SEMCTL, index, 0, SEM_STAT_ANY, calls.room(STATUS_BYTES));
        if (id < 0) {
            return null;
        }
        ByteBuffer status = calls.read(calls.room(STATUS_BYTES), STATUS_BYTES);
        return new Found((int) id, IpcAccess.of(status), status, status.getLong(OPERATED), status.getLong(CHANGED));
    }

    @Override
    KernelObject read(IpcCalls calls, Found found, ObjectTable to) {
        long count = found.status().getLong(COUNT);
        int[] users = shared() || count <= MOST_ASKED ? users(calls, found, (int) count) : new int[0];
        if (users == null || shared() && !ofJob(found, users)) {
            return null;
        }
        if (count > MOST) {
            throw refuse("System V semaphore set " + found.ipcId() + " has " + count + " semaphores, and at most "
                    + MOST + " can be restored; make several sets");
        }
        int[] values = values(calls, found, (int) count);
        if (values == null) {
            return null;
        }
        changes.put(found.ipcId(), found.status().getLong(CHANGED));
        IpcAccess access = found.access();
        return new SemaphoreSet(to.newId(), found.ipcId(), access.key(), access.uid(), access.gid(),
                access.creatorUid(), access.creatorGid(), access.mode(), found.status().getLong(OPERATED) != 0,
                values, numbers(users));
    }

    private boolean ofJob(Found found, int[] users) {
        long last = Math.max(found.status().getLong(OPERATED), found.status().getLong(CHANGED));
        int[] different = IntStream.of(users).distinct().toArray();
        long[] when = new long[different.length];
        Arrays.fill(when, last);
        return ofJob("System V semaphore set", found, different, when);
    }

    /** Null: another user's that may not be read, or removed just now by who is not of the job. */
    private int[] users(IpcCalls calls, Found found, int count) {
        int[] users = new int[count];
        for (int i = 0; i < count; i++) {
            long pid = calls.call(Syscall.SEMCTL, found.ipcId(), i, GETPID);
            if (pid < 0 && shared()) {
                return null;
            }
            users[i] = (int) LinuxError.check(pid, "semctl(GETPID)");
        }
        return users;
    }

    /** Null: it was removed just now. */
    private int[] values(IpcCalls calls, Found found, int count) {
        long room = calls.room(2 * count);
        long result = calls.call(Syscall.SEMCTL, found.ipcId(), 0, GETALL, room);
        if (removed(result)) {
            return null;
        }
        LinuxError.check(result, "semctl(GETALL)");
        ByteBuffer values = calls.read(room, 2 * count);
        return IntStream.range(0, count).map(i -> values.getShort(2 * i) & 0xffff).toArray();
    }
}
