package org.udckpt.linux;

import java.io.IOException;
import java.nio.file.Path;

/** The user whose rights this process has. */
public final class User {
    private static final int ROOT = 0;
    /**
     * Root as a user namespace shows him that has no number for him (user_namespaces(7)); -1: this one has numbers for
     * everybody.
     */
    private static final int UNMAPPED = unmapped();

    private User() {}

    /** The effective user id. */
    public static int id() {
        return (int) Syscall.call(Syscall.GETEUID);
    }

    /** This user, or root. Where root has no number of his own he cannot be told from others who have none. */
    public static boolean isTrusted(int uid) {
        return uid == ROOT || uid == UNMAPPED || uid == id(); // a system call: last
    }

    private static int unmapped() {
        try {
            String[] map = java.nio.file.Files.readString(Path.of("/proc/self/uid_map")).strip().split("\\s+");
            boolean whole = map.length == 3 && map[0].equals("0") && map[2].equals("4294967295");
            return whole ? -1
                    : Integer.parseInt(java.nio.file.Files.readString(Path.of("/proc/sys/kernel/overflowuid")).strip());
        } catch (IOException e) {
            return -1; // without /proc everybody is who he seems
        }
    }
}
