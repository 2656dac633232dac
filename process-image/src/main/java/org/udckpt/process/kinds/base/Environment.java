package org.udckpt.process.kinds.base;

import org.udckpt.linux.Proc;

/** The environment that a process was started with (/proc/PID/environ). */
public final class Environment {
    private Environment() {}

    /** The variable's value, or null. */
    public static String of(int pid, String name) {
        for (String variable : Proc.text("/proc/" + pid + "/environ").split("\0")) {
            if (variable.startsWith(name) && variable.length() > name.length()
                    && variable.charAt(name.length()) == '=') {
                return variable.substring(name.length() + 1);
            }
        }
        return null;
    }
}
