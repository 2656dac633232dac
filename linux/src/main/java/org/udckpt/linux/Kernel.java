package org.udckpt.linux;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The running kernel's version, for what it does not say otherwise. */
public final class Kernel {
    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

    private Kernel() {}

    /** Whether it is of this version or a later one; false where it has no such number. */
    public static boolean atLeast(int major, int minor) {
        Matcher version = VERSION.matcher(System.getProperty("os.version"));
        if (!version.matches()) {
            return false;
        }
        int own = Integer.parseInt(version.group(1));
        return own > major || own == major && Integer.parseInt(version.group(2)) >= minor;
    }
}
