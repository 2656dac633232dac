package org.udckpt.process.kinds.mqueue;

import org.udckpt.linux.RawText;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** POSIX message queues: names, limits, messages, and who is notified. */
public final class PosixQueueKind implements ObjectKind<PosixQueue> {
    /** NAME_MAX; HARD_MSGMAX and HARD_MSGSIZEMAX (linux/ipc_namespace.h). */
    private static final int LONGEST_NAME = 255, MOST = 65536, LONGEST = 16 << 20;

    @Override
    public Class<PosixQueue> record() {
        return PosixQueue.class;
    }

    @Override
    public String shown(PosixQueue queue) {
        return "/" + queue.queueName() + (queue.unlinked() ? " (deleted)" : "");
    }

    @Override
    public void check(PosixQueue queue, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNull("queueName", queue.queueName());
        row.path("queueName", "/" + queue.queueName());
        row.require(queue.queueName().indexOf('/') < 0 && !queue.queueName().isEmpty()
                && RawText.encode(queue.queueName()).length <= LONGEST_NAME,
                "queueName is no name of a queue (length %d)", queue.queueName().length());
        row.between(0, 07777, "mode", queue.mode());
        row.between(1, MOST, "mostMessages", queue.mostMessages());
        row.between(1, LONGEST, "longestMessage", queue.longestMessage());
        messages(queue, row);
        row.require(queue.notified() == 0 || image.process(queue.notified()), "process %d does not exist",
                queue.notified());
        row.between(PosixQueue.SIGEV_SIGNAL, PosixQueue.SIGEV_NONE, "notification", queue.notification());
        boolean signals = queue.notified() != 0 && queue.notification() == PosixQueue.SIGEV_SIGNAL;
        row.between(signals ? 1 : 0, CheckedImage.SIGNALS, "signal", queue.signal());
        row.notNegative("note", queue.note());
    }

    private static void messages(PosixQueue queue, RowCheck row) throws BrokenTable {
        row.notNull("messages", queue.messages());
        row.messages("messageLengths", queue.messageLengths(), queue.messages().length);
        for (int length : queue.messageLengths()) {
            row.between(0, queue.longestMessage(), "messageLengths", length);
        }
        row.between(0, queue.mostMessages(), "length of messageLengths", queue.messageLengths().length);
        row.notNull("priorities", queue.priorities());
        row.require(queue.priorities().length == queue.messageLengths().length,
                "priorities has length %d, but messageLengths %d", queue.priorities().length,
                queue.messageLengths().length);
        int most = PosixQueue.HIGHEST_PRIORITY;
        for (int priority : queue.priorities()) {
            row.between(0, most, "priorities", priority);
            most = priority;
        }
    }
}
