package org.udckpt.linux;

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
            return unmapped(Proc.text("/proc/self/uid_map"));
        } catch (LinuxError e) {
            return -1; // without /proc everybody is who he seems
        }
    }

    /** @param map of the numbers of a user namespace (user_namespaces(7)) */
    static int unmapped(String map) {
        String[] fields = map.strip().split("\\s+");
        boolean whole = fields.length == 3 && fields[0].equals("0") && fields[2].equals("4294967295");
        return whole ? -1 : Integer.parseInt(Proc.text("/proc/sys/kernel/overflowuid").strip());
    }
}
