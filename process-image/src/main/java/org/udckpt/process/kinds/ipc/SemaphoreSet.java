package org.udckpt.process.kinds.ipc;

import org.udckpt.process.model.KernelObject;

/**
 * A set of System V semaphores.
 *
 * @param operated whether semop(2) has been called: programs tell by sem_otime that a set is ready for use
 * @param values of its semaphores
 * @param users who was the last to change each (GETPID), as the job numbers it, 0: nobody; empty: not known
 */
public record SemaphoreSet(long id, int ipcId, int key, int uid, int gid, int creatorUid, int creatorGid, int mode,
        boolean operated, int[] values, int[] users) implements KernelObject {
    IpcAccess access() {
        return new IpcAccess(key, uid, gid, creatorUid, creatorGid, mode);
    }
}
