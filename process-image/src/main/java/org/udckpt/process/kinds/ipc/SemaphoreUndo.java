package org.udckpt.process.kinds.ipc;

import org.udckpt.process.model.KernelObject;

/**
 * What the kernel adds to a semaphore when a process ends (SEM_UNDO of semop(2)).
 *
 * @param pid of the process, as the job numbers it
 * @param ipcId of the set
 * @param semaphoreNumber in the set
 * @param noteAddress where the preloaded library has noted the time of the set's last change
 */
public record SemaphoreUndo(long id, int pid, int ipcId, int semaphoreNumber, int adjustment, long noteAddress)
        implements
            KernelObject {}
