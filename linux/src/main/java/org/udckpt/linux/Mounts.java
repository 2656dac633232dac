package org.udckpt.linux;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What /proc/self/mountinfo says (proc_pid_mountinfo(5)). */
public final class Mounts {
    static final int UNKNOWN = -1;
    private static final String OWNER = "user_id=", OPTIONS = " - ";

    private Mounts() {}

    /**
     * The user who has mounted the FUSE file system of this device; {@link #UNKNOWN} if the kernel does not report it.
     */
    static int fuseOwner(long device) {
        return fuseOwner(Proc.text("/proc/self/mountinfo"), device);
    }

    /**
     * The options of /dev/pts that say whose terminals are, for another mount of its kind: {@code gid=5,mode=620};
     * empty where there are none.
     */
    public static String terminals() {
        return terminals(Proc.text("/proc/self/mountinfo"));
    }

    static String terminals(String mounts) {
        String found = "";
        for (String line : mounts.split("\n")) {
            int options = line.indexOf(OPTIONS);
            String[] words = line.split(" ");
            String[] behind = options < 0 ? new String[0] : line.substring(options + OPTIONS.length()).split(" ");
            if (behind.length > 2 && behind[0].equals("devpts") && words[4].equals("/dev/pts")) {
                // the last one lies on top
                found = Stream.of(behind[2].split(",")).filter(option -> option.matches("(gid|mode)=\\d+"))
                        .collect(Collectors.joining(","));
            }
        }
        return found;
    }

    static int fuseOwner(String mounts, long device) {
        // as new_decode_dev() has it
        String number = (device >> 8 & 0xfff) + ":" + (device & 0xff | device >> 12 & 0xfff00);
        for (String line : mounts.split("\n")) {
            int options = line.indexOf(OPTIONS);
            String[] words = line.split(" ");
            if (options < 0 || words.length < 3 || !words[2].equals(number)) {
                continue;
            }
            // type, source, options of the file system
            String[] behind = line.substring(options + OPTIONS.length()).split(" ");
            for (String option : behind.length > 2 && behind[0].startsWith("fuse") ? behind[2].split(",")
                    : new String[0]) {
                if (option.startsWith(OWNER)) {
                    return Integer.parseInt(option.substring(OWNER.length()));
                }
            }
        }
        return UNKNOWN;
    }
}
