package org.udckpt.process.kinds.mqueue;

import org.udckpt.process.model.KernelObject;

/**
 * A POSIX message queue, with its messages in the order in which they are received.
 *
 * @param queueName without a slash
 * @param unlinked it has lost its name (mq_unlink(3))
 * @param mostMessages mq_maxmsg
 * @param longestMessage mq_msgsize
 * @param messages contents, one behind the other
 * @param notified the process that hears of the next message (mq_notify(3)), as the job numbers it; 0: none
 * @param notification SIGEV_SIGNAL or SIGEV_NONE
 * @param signal its number, of the first
 * @param signalValue its value
 * @param note address, in that process, of the queue's inode number in the preloaded library's notes; 0: none
 */
public record PosixQueue(long id, String queueName, boolean unlinked, int mode, int uid, int gid, long mostMessages,
        long longestMessage, int[] priorities, int[] messageLengths, byte[] messages, int notified,
        int notification,
        int signal, long signalValue, long note) implements KernelObject {
    static final int SIGEV_SIGNAL = 0, SIGEV_NONE = 1, SIGEV_THREAD = 2;
    /** MQ_PRIO_MAX - 1. */
    static final int HIGHEST_PRIORITY = 32767;

    String what() {
        return "POSIX message queue /" + queueName;
    }
}
