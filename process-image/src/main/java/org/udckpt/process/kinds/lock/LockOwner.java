package org.udckpt.process.kinds.lock;

/**
 * The holder of a lock on a file: the open file (flock(2)), the open file by F_OFD_SETLK, or the process (fcntl(2)).
 */
public enum LockOwner {
    FLOCK, DESCRIPTION, PROCESS
}
