package org.udckpt.process.kinds.ipc;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcMembers;
import org.udckpt.process.kinds.base.IpcObject;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Makes message queues, and sends their messages again. */
final class MessageQueueRestore implements KindRestore<MessageQueue> {
    private static final int IPC_NOWAIT = 04000, TYPE_BYTES = 8;
    /** msg_qbytes of struct msqid64_ds. */
    private static final int QUEUE_BYTES = 88, STATUS_BYTES = 120;

    private final RestoreScope scope;
    private final IpcMembers ipc;

    MessageQueueRestore(RestoreScope scope) {
        this.scope = scope;
        this.ipc = new IpcMembers(scope);
    }

    @Override
    public void makeTogether() {
        scope.objects(MessageQueue.class).forEach(this::make);
    }

    private void make(MessageQueue queue) {
        String what = "System V message queue " + queue.ipcId();
        Maker maker = ipc.user(queue.id(), 0);
        IpcAccess access = queue.access();
        IpcObject.make(maker, what, "msg_next_id", queue.ipcId(), queue.mode(),
                flags -> IpcRestore.asCreator(maker, access, () -> maker.tryCall(Syscall.MSGGET, queue.key(), flags)));
        // more than the messages need may be refused, less than they need would keep them out
        set(maker, queue, what, Math.max(queue.queueBytes(), Math.max(queue.messages().length, 1)));
        use(queue, what);
        send(queue, what);
        set(maker, queue, what, queue.queueBytes());
    }

    private static void set(Maker maker, MessageQueue queue, String what, long bytes) {
        IpcRestore.set(maker, what, queue.access(), STATUS_BYTES,
                (command, status) -> maker.tryCall(Syscall.MSGCTL, queue.ipcId(), command, status),
                status -> status.putLong(QUEUE_BYTES, bytes));
    }

    /** Who sent and received last is what the kernel saw: a message that both have had. */
    private void use(MessageQueue queue, String what) {
        if (queue.receiver() != 0) {
            sendOne(ipc.user(queue.id(), queue.sender()), queue, what, 1, new byte[0]);
            Maker receiver = ipc.user(queue.id(), queue.receiver());
            receiver.call("receive from " + what, Syscall.MSGRCV, queue.ipcId(), receiver.bytes(new byte[TYPE_BYTES]),
                    0, 0, IPC_NOWAIT);
        }
    }

    private void send(MessageQueue queue, String what) {
        Maker sender = ipc.user(queue.id(), queue.sender());
        int at = 0;
        for (int i = 0; i < queue.messageTypes().length; i++) {
            byte[] text = java.util.Arrays.copyOfRange(queue.messages(), at, at + queue.messageLengths()[i]);
            sendOne(sender, queue, what, queue.messageTypes()[i], text);
            at += text.length;
        }
    }

    private static void sendOne(Maker sender, MessageQueue queue, String what, long type, byte[] text) {
        long message = sender.structure().i64(type).raw(text).put();
        sender.call("send a message to " + what, Syscall.MSGSND, queue.ipcId(), message, text.length, IPC_NOWAIT);
    }
}
