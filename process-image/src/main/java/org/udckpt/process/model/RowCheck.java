package org.udckpt.process.model;

import static org.udckpt.linux.LinuxConstants.AF_INET;
import static org.udckpt.linux.LinuxConstants.AF_INET6;

import java.util.Locale;

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

    /**
     * Throws unless the condition holds. A format and a number, not a text: a table has many rows, and nothing is
     * formatted for those that are right.
     *
     * @param format of {@link String#format}, for the value
     */
    public void require(boolean holds, String format, long value) throws BrokenTable {
        if (!holds) {
            throw broken(String.format(Locale.ROOT, format, value));
        }
    }

    /** As {@link #require(boolean, String, long)}, of two values. */
    public void require(boolean holds, String format, long first, long second) throws BrokenTable {
        if (!holds) {
            throw broken(String.format(Locale.ROOT, format, first, second));
        }
    }

    /** Throws where the value is below {@code least} or above {@code most}. */
    public void between(long least, long most, String column, long value) throws BrokenTable {
        if (value < least || value > most) {
            throw broken(column + " " + value + " is out of range ("
                    + (most == Long.MAX_VALUE ? "at least " + least : least + " to " + most) + ")");
        }
    }

    /** Throws where it is below 0. */
    public void notNegative(String column, long value) throws BrokenTable {
        require(value >= 0, column, " %d is negative", value);
    }

    /** Throws where it is null, or longer than any path, or has a NUL. Says its length: nobody vouches for the text. */
    public void text(String column, String value) throws BrokenTable {
        notNull(column, value);
        require(value.length() <= MOST_TEXT, column, " is too long (%d characters)", value.length());
        require(value.indexOf('\0') < 0, column, " contains a NUL character (length %d)", value.length());
    }

    /** As the kernel shows one: absolute. */
    public void absolute(String column, String path) throws BrokenTable {
        text(column, path);
        require(path.startsWith("/"), column, " is not an absolute path (length %d)", path.length());
    }

    /**
     * As the kernel shows one that can be walked: absolute, and with nothing in it that such a path does not have:
     * "..", ".", an empty name.
     */
    public void path(String column, String path) throws BrokenTable {
        absolute(column, path);
        boolean plain = true;
        for (String name : path.length() > 1 ? path.substring(1).split("/", -1) : new String[0]) {
            plain &= !name.isEmpty() && !name.equals(".") && !name.equals("..");
        }
        require(plain, column, " has '.', '..' or an empty name in it (length %d)", path.length());
    }

    /** Throws where it is null. */
    public void notNull(String column, Object value) throws BrokenTable {
        if (value == null) {
            throw broken(column + " is null");
        }
    }

    /** @param unit the length is a multiple of it */
    public void bytes(String column, byte[] value, int least, int most, int unit) throws BrokenTable {
        notNull(column, value);
        length(column, value.length, least, most, unit);
    }

    /** As {@link #bytes}, of anything with a length. */
    public void length(String column, int length, int least, int most, int unit) throws BrokenTable {
        if (length < least || length > most || length % unit != 0) {
            throw broken(column + " has length " + length + ", expected " + expected(least, most, unit));
        }
    }

    private static String expected(int least, int most, int unit) {
        if (least == most) {
            return String.valueOf(least);
        }
        String range = most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most;
        return unit == 1 ? range : range + ", a multiple of " + unit;
    }

    /** Options of a socket, three numbers each: level, name, value. */
    public void options(int[] options) throws BrokenTable {
        notNull("options", options);
        length("options", options.length, 0, Integer.MAX_VALUE, 3);
    }

    /** What all sockets without connections have. */
    public void socket(PacketSocket socket) throws BrokenTable {
        options(socket.options());
        notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        notNegative("sendTimeoutUs", socket.sendTimeoutUs());
    }

    /** The names of a socket of the internet, of which {@code remote} may be empty, and its device. */
    public void names(byte[] local, byte[] remote, int domain, String device) throws BrokenTable {
        address("local", local, domain);
        notNull("remote", remote);
        if (remote.length > 0) {
            address("remote", remote, domain);
        }
        text("device", device);
    }

    /** Lengths of messages that are {@code bytes} together. */
    public void messages(String column, int[] lengths, int bytes) throws BrokenTable {
        notNull(column, lengths);
        long sum = 0;
        for (int length : lengths) {
            notNegative(column, length);
            sum += length;
        }
        if (sum != bytes) {
            throw broken(column + " has a sum of " + sum + ", but queued has " + bytes + " bytes");
        }
    }

    /** An internet address of that family, struct sockaddr_in or sockaddr_in6: a family of two bytes first. */
    public void address(String column, byte[] address, int domain) throws BrokenTable {
        require(domain == AF_INET || domain == AF_INET6, "domain %d is neither AF_INET nor AF_INET6", domain);
        int length = domain == AF_INET ? IPV4_BYTES : IPV6_BYTES;
        bytes(column, address, length, length, 1);
        int family = address[0] & 0xff | (address[1] & 0xff) << 8;
        if (family != domain) {
            throw broken(column + " has address family " + family + ", but domain is " + domain);
        }
    }

    /** As {@link #require(boolean, String, long)}, with the column's name before the format. */
    private void require(boolean holds, String column, String format, long value) throws BrokenTable {
        if (!holds) {
            throw broken(column + String.format(Locale.ROOT, format, value));
        }
    }

    /** The exception about this row; texts of the image are not to be in it, but their lengths. */
    public BrokenTable broken(String what) {
        return new BrokenTable(table, number, what);
    }
}
