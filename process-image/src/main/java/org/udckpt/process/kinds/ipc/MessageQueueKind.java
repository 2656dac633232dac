package org.udckpt.process.kinds.ipc;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** System V message queues: numbers and keys, messages, and who used them last. */
public final class MessageQueueKind implements ObjectKind<MessageQueue> {
    @Override
    public Class<MessageQueue> record() {
        return MessageQueue.class;
    }

    @Override
    public String shown(MessageQueue queue) {
        return queue.access().shown(queue.ipcId());
    }

    @Override
    public void check(MessageQueue queue, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNegative("ipcId", queue.ipcId());
        row.between(0, 0777, "mode", queue.mode());
        row.notNegative("queueBytes", queue.queueBytes());
        row.notNull("messages", queue.messages());
        row.messages("messageLengths", queue.messageLengths(), queue.messages().length);
        for (int length : queue.messageLengths()) {
            row.between(0, MessageQueueCapture.LONGEST, "messageLengths", length);
        }
        row.notNull("messageTypes", queue.messageTypes());
        row.require(queue.messageTypes().length == queue.messageLengths().length,
                "messageTypes has length %d, but messageLengths %d", queue.messageTypes().length,
                queue.messageLengths().length);
        for (long type : queue.messageTypes()) {
            row.between(1, Long.MAX_VALUE, "messageTypes", type);
        }
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new MessageQueueCapture(scope);
    }

    @Override
    public KindRestore<MessageQueue> restore(RestoreScope scope) {
        return new MessageQueueRestore(scope);
    }
}
