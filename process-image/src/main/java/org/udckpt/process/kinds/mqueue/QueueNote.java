package org.udckpt.process.kinds.mqueue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.layout.Layout;
import org.udckpt.process.kinds.base.AskedProcess;

/**
 * The value of the signal that a queue is to send, as the preloaded library has noted it in the process that gets it
 * (interposer_queues.c).
 *
 * @param address of the note's inode
 */
record QueueNote(long value, long address) {
    private static final String SYMBOL = "udckpt_queue_notes";

    /** Null: it is not known. */
    static QueueNote of(AskedProcess process, long inode) {
        long address = process.libraryData(SYMBOL, Layout.QueueNotes.SIZE);
        if (address == 0) {
            return null;
        }
        ByteBuffer table = ByteBuffer.wrap(process.read(address, Layout.QueueNotes.SIZE))
                .order(ByteOrder.LITTLE_ENDIAN);
        if (table.getInt(Layout.QueueNotes.PENDING) != 0) {
            throw process.failed("a thread is asking for a message queue's notification (mq_notify(3)), and has not "
                    + "noted it yet");
        }
        for (int i = 0; i < Layout.QUEUE_NOTES; i++) {
            int at = Layout.QueueNotes.ENTRIES + i * Layout.QueueNote.SIZE;
            if (table.getLong(at + Layout.QueueNote.INODE) == inode) {
                return new QueueNote(table.getLong(at + Layout.QueueNote.VALUE), address + at
                        + Layout.QueueNote.INODE);
            }
        }
        return null;
    }
}
