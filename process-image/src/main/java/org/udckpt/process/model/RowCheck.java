package org.udckpt.process.model;

import static org.udckpt.linux.LinuxConstants.AF_INET;
import static org.udckpt.linux.LinuxConstants.AF_INET6;

/** Checks the rows of an image's table: counts them and throws an exception that names table and row. */
public final class RowCheck {
    /** Longer than any path that /proc shows: PATH_MAX, with up to four characters for an odd byte. */
    private static final int MOST_TEXT = 4 * 4096;
    /** Bytes of a page of memory. */
    public static final int PAGE = 4096;
    private static final int IPV4_BYTES = 16, IPV6_BYTES = 28;
    private final String table;
    private int number = -1;

    /** Before the first row. */
    public RowCheck(String table) {
        this.table = table;
    }

    /** The next one. */
    public RowCheck next() {
        number++;
        return this;
    }

    /** Throws where it is not so. */
    public void is(boolean true_, String column, long value) throws BrokenTable {
        if (!true_) {
            throw broken(column + " " + value);
        }
    }

    /** Throws where the value is outside of these bounds, which it may be. */
    public void between(long least, long most, String column, long value) throws BrokenTable {
        if (value < least || value > most) {
            throw broken(column + " " + value + " is not in " + least + " to " + most);
        }
    }

    /** Throws where it is below 0. */
    public void notNegative(String column, long value) throws BrokenTable {
        between(0, Long.MAX_VALUE, column, value);
    }

    /** Throws where it is no text, or one that no path is. */
    public void text(String column, String value) throws BrokenTable {
        there(column, value);
        if (value.length() > MOST_TEXT || value.indexOf('\0') >= 0) {
            throw broken(column + " is a text of " + value.length() + " characters"
                    + (value.indexOf('\0') >= 0 ? " with a NUL" : ""));
        }
    }

    /** As the kernel shows one: absolute. */
    public void absolute(String column, String path) throws BrokenTable {
        text(column, path);
        if (!path.startsWith("/")) {
            throw broken(column + " is not an absolute path");
        }
    }

    /**
     * As the kernel shows one that can be walked: absolute, and with nothing in it that such a path does not have:
     * "..", ".", an empty name.
     */
    public void path(String column, String path) throws BrokenTable {
        text(column, path);
        boolean plain = path.startsWith("/");
        for (String name : plain && path.length() > 1 ? path.substring(1).split("/", -1) : new String[0]) {
            plain &= !name.isEmpty() && !name.equals(".") && !name.equals("..");
        }
        if (!plain) {
            throw broken(column + " is not an absolute path without '..'");
        }
    }

    /** Throws where it is null. */
    public void there(String column, Object value) throws BrokenTable {
        if (value == null) {
            throw broken(column + " is null");
        }
    }

    /** @param unit the length is a multiple of it */
    public void bytes(String column, byte[] value, int least, int most, int unit) throws BrokenTable {
        there(column, value);
        length(column, value.length, least, most, unit);
    }

    /** As {@link #bytes}, of anything with a length. */
    public void length(String column, int length, int least, int most, int unit) throws BrokenTable {
        if (length < least || length > most || length % unit != 0) {
            throw broken(column + " has a length of " + length
                    + (least == most ? ", not " + least
                            : "; " + least + " to " + most + " in steps of " + unit + " can be"));
        }
    }

    /** Options of a socket, three numbers each: level, name, value. */
    public void options(int[] options) throws BrokenTable {
        there("options", options);
        length("options", options.length, 0, Integer.MAX_VALUE, 3);
    }

    /** Lengths of messages that are {@code bytes} together. */
    public void messages(String column, int[] lengths, int bytes) throws BrokenTable {
        there(column, lengths);
        long sum = 0;
        for (int length : lengths) {
            notNegative(column, length);
            sum += length;
        }
        is(sum == bytes, "messages of another length than queued has: together", sum);
    }

    /** An internet address of that family, struct sockaddr_in or sockaddr_in6: a family of two bytes first. */
    public void address(String column, byte[] address, int domain) throws BrokenTable {
        is(domain == AF_INET || domain == AF_INET6, "domain", domain);
        int length = domain == AF_INET ? IPV4_BYTES : IPV6_BYTES;
        bytes(column, address, length, length, 1);
        is((address[0] & 0xff | (address[1] & 0xff) << 8) == domain, column + " is of another family than", domain);
    }

    /** The exception to be thrown about this row. */
    public BrokenTable broken(String what) {
        return new BrokenTable(table, number, what);
    }
}
