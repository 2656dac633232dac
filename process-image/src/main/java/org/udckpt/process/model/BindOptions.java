package org.udckpt.process.model;

import java.util.Arrays;

/**
 * Options of a socket that decide whether it may be bound as it is, and were switched off since. In the list of a
 * socket's options such a one is there twice: first as it was when the socket was bound, and later, behind it, as it is
 * now.
 */
public final class BindOptions {
    public static final int IP_FREEBIND = 15, IP_TRANSPARENT = 19;

    private BindOptions() {}

    /** The list of which the socket had option {@code name} of {@code level} switched on when it was bound. */
    public static int[] with(int[] options, int level, int name) {
        int at = find(options, level, name, 0);
        if (at < options.length && options[at + 2] != 0) {
            return options;
        }
        int[] more = Arrays.copyOf(new int[]{level, name, 1}, options.length + (at < options.length ? 3 : 6));
        System.arraycopy(options, 0, more, 3, options.length);
        if (at == options.length) {
            more[more.length - 3] = level;
            more[more.length - 2] = name;
        }
        return more;
    }

    /** Whether it had that option when it was bound. */
    public static boolean had(int[] options, int level, int name) {
        int at = find(options, level, name, 0);
        return at < options.length && options[at + 2] != 0;
    }

    /** Whether the option at {@code index} is to be set when all sockets are bound. */
    public static boolean later(int[] options, int index) {
        return find(options, options[index], options[index + 1], 0) < index;
    }

    /** The value that it has now; 0: that of a new socket. */
    public static int now(int[] options, int level, int name) {
        int value = 0;
        for (int at = find(options, level, name, 0); at < options.length; at = find(options, level, name, at + 3)) {
            value = options[at + 2];
        }
        return value;
    }

    /** Its place; the length of the list: it is not there. */
    private static int find(int[] options, int level, int name, int from) {
        int at = from;
        while (at < options.length && (options[at] != level || options[at + 1] != name)) {
            at += 3;
        }
        return at;
    }
}
