package org.udckpt.process.kinds.ipc;

import org.udckpt.process.model.KernelObject;

/**
 * A System V message queue, with its messages in their order.
 *
 * @param queueBytes as many as may be in it (msg_qbytes)
 * @param sender the last process that has sent, as the job numbers it; 0: none
 * @param receiver the last that has received
 * @param messages contents, one behind the other
 */
public record MessageQueue(long id, int ipcId, int key, int uid, int gid, int creatorUid, int creatorGid, int mode,
        long queueBytes, int sender, int receiver, long[] messageTypes, int[] messageLengths, byte[] messages)
        implements
            KernelObject {
    IpcAccess access() {
        return new IpcAccess(key, uid, gid, creatorUid, creatorGid, mode);
    }
}
