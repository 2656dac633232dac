package org.udckpt.linux;

/** The permitted owners and writers of a directory that is opened, and of each directory above it. */
public enum Trust {
    /** Not checked: for readers of sealed content alone. */
    ANY,
    /**
     * This user or root, and nobody else writes, unless the directory is sticky: as sshd(8) asks with StrictModes. A
     * user's private group is nobody else.
     */
    OWN,
    /** Also other users and groups, but not everybody: a group's directory, which was allowed by name. */
    GROUP;

    private static final int STICKY = 01000, GROUP_WRITES = 020, OTHERS_WRITE = 002;

    /** @throws UntrustedPath where the directory is not so */
    void check(String path, Files.Stat stat) {
        if (this == ANY || isSafe(stat)) {
            return;
        }
        if (this == OWN && !User.isTrusted(stat.uid())) {
            throw new UntrustedPath("directory " + path + " belongs to user " + stat.uid()
                    + ", who could replace its contents; give a directory of your own", true);
        }
        if ((stat.mode() & STICKY) == 0 && (stat.mode() & OTHERS_WRITE) != 0) {
            throw new UntrustedPath("directory " + path + " can be written by everybody (mode "
                    + Integer.toOctalString(stat.mode() & 07777)
                    + ") and is not sticky, so other users could replace its contents; run chmod o-w " + path
                    + ", or give another directory");
        }
        if (this == OWN && !PrivateGroup.is(stat.gid(), User.id())) {
            throw new UntrustedPath("directory " + path + " can be written by its group (mode "
                    + Integer.toOctalString(stat.mode() & 07777)
                    + ") and is not sticky, so other users could replace its contents; run chmod g-w " + path
                    + ", or give another directory", true);
        }
    }

    private static boolean isSafe(Files.Stat stat) {
        return User.isTrusted(stat.uid())
                && ((stat.mode() & STICKY) != 0 || (stat.mode() & (GROUP_WRITES | OTHERS_WRITE)) == 0);
    }
}
