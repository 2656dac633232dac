package org.udckpt.process.tree;

/** A tree that no order of fork(2), setsid(2) and setpgid(2) makes. */
public final class TreeRefused extends Exception {
    private static final long serialVersionUID = 1;

    private final int pid;

    TreeRefused(int pid, String reason) {
        super(reason);
        this.pid = pid;
    }

    /** The process that cannot be made as it was. */
    public int pid() {
        return pid;
    }
}
