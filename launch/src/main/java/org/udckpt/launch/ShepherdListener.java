package org.udckpt.launch;

/** What the shepherd reports by itself; called on its reader thread, must not block. */
public interface ShepherdListener {
    /** A root process ended; the status is that of wait(2). */
    void exited(int hostPid, int waitStatus);

    /** The shepherd itself is gone, and with its connection every news of the ranks. */
    void shepherdLost();
}
