package org.udckpt.linux;

/** What /proc/self/mountinfo says (proc_pid_mountinfo(5)). */
final class Mounts {
    static final int UNKNOWN = -1;
    private static final String OWNER = "user_id=", OPTIONS = " - ";

    private Mounts() {}

    /** The user who has mounted the FUSE file system of this device; {@link #UNKNOWN} where the kernel does not say it. */
    static int fuseOwner(long device) {
        return fuseOwner(Proc.text("/proc/self/mountinfo"), device);
    }

    static int fuseOwner(String mounts, long device) {
        String number = (device >> 8 & 0xfff) + ":" + (device & 0xff | device >> 12 & 0xfff00); // as new_decode_dev() has it
        for (String line : mounts.split("\n")) {
            int options = line.indexOf(OPTIONS);
            String[] words = line.split(" ");
            if (options < 0 || words.length < 3 || !words[2].equals(number)) {
                continue;
            }
            String[] behind = line.substring(options + OPTIONS.length()).split(" "); // type, source, options of the file system
            for (String option : behind.length > 2 && behind[0].startsWith("fuse") ? behind[2].split(",") : new String[0]) {
                if (option.startsWith(OWNER)) {
                    return Integer.parseInt(option.substring(OWNER.length()));
                }
            }
        }
        return UNKNOWN;
    }
}
