package org.udckpt.process.kinds.ipc;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.KernelObject;

/** Reads message queues (msgctl(2)), and their messages without taking them (MSG_COPY of msgrcv(2)). */
final class MessageQueueCapture extends IpcCapture {
    /** What a restart can send: as much as fits in its scratch memory in a process. */
    static final int LONGEST = 65_000;
    private static final int MSG_INFO = 12, MSG_STAT_ANY = 13, IPC_NOWAIT = 04000, MSG_COPY = 040000;
    /** msgpool of struct msginfo: queues that exist. */
    private static final int QUEUES = 0, INFO_BYTES = 32;
    /** struct msqid64_ds (asm-generic/msgbuf.h). */
    private static final int SENT = 48, RECEIVED = 56, CHANGED = 64, BYTES = 72, MESSAGES = 80, MOST_BYTES = 88,
            SENDER = 96, RECEIVER = 100, STATUS_BYTES = 120;
    private static final int TYPE_BYTES = 8;

    MessageQueueCapture(CaptureScope scope) {
        super(scope.table(), "a System V message queue", "msg_next_id");
    }

    @Override
    long info(IpcCalls calls) {
        return calls.call(Syscall.MSGCTL, 0, MSG_INFO, calls.room(INFO_BYTES));
    }

    @Override
    int count(IpcCalls calls) {
        return calls.read(calls.room(INFO_BYTES), INFO_BYTES).getInt(QUEUES);
    }

    @Override
    Found status(IpcCalls calls, int index) {
        long id = calls.call(Syscall.MSGCTL, index, MSG_STAT_ANY, calls.room(STATUS_BYTES));
        if (id < 0) {
            return null;
        }
        ByteBuffer status = calls.read(calls.room(STATUS_BYTES), STATUS_BYTES);
        return new Found((int) id, IpcAccess.of(status), status, status.getLong(SENT), status.getLong(RECEIVED),
                status.getLong(CHANGED));
    }

    @Override
    KernelObject read(IpcCalls calls, Found found, ObjectTable to) {
        ByteBuffer status = found.status();
        int[] users = {status.getInt(SENDER), status.getInt(RECEIVER)};
        if (shared() && !ofJob("System V message queue", found, users,
                new long[]{status.getLong(SENT), status.getLong(RECEIVED)})) {
            return null;
        }
        int count = Math.toIntExact(status.getLong(MESSAGES));
        long[] types = new long[count];
        int[] lengths = new int[count];
        byte[] messages = messages(calls, found, types, lengths);
        if (messages == null) {
            return null;
        }
        IpcAccess access = found.access();
        int[] numbers = numbers(users);
        return new MessageQueue(to.newId(), found.ipcId(), access.key(), access.uid(), access.gid(),
                access.creatorUid(), access.creatorGid(), access.mode(), status.getLong(MOST_BYTES), numbers[0],
                numbers[1], types, lengths, messages);
    }

    /** Null: it was removed just now. */
    private byte[] messages(IpcCalls calls, Found found, long[] types, int[] lengths) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int most = Math.toIntExact(found.status().getLong(BYTES));
        for (int i = 0; i < types.length; i++) {
            long room = calls.room(TYPE_BYTES + most);
            long result = calls.call(Syscall.MSGRCV, found.ipcId(), room, most, i, IPC_NOWAIT | MSG_COPY);
            if (removed(result)) {
                return null;
            }
            lengths[i] = (int) length(result, found);
            ByteBuffer message = calls.read(room, TYPE_BYTES + lengths[i]);
            types[i] = message.getLong(0);
            all.write(message.array(), TYPE_BYTES, lengths[i]);
        }
        return all.toByteArray();
    }

    private long length(long result, Found found) {
        String queue = "System V message queue " + found.ipcId();
        if (result == -LinuxError.ENOSYS) {
            throw refuse(queue + " has messages, which this kernel does not show without taking them (MSG_COPY needs"
                    + " CONFIG_CHECKPOINT_RESTORE); receive them first");
        }
        if (result == -LinuxError.EACCES) {
            throw refuse(queue + " has messages that may not be read; permit it (msgctl(2), mode u+r)");
        }
        if (result > LONGEST) {
            throw refuse(queue + " has a message of " + result + " bytes, and at most " + LONGEST
                    + " can be restored; receive it first");
        }
        return LinuxError.check(result, queue + ": read a message");
    }
}
