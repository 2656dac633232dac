package org.udckpt.process.check;

/** One row that is looked at: counts them, and throws about it. */
final class Row {
    /** Longer than any path that /proc shows: PATH_MAX, with up to four characters for an odd byte. */
    private static final int MOST_TEXT = 4 * 4096;
    static final int PAGE = 4096;
    private final String table;
    private int number = -1;

    /** Before the first row. */
    Row(String table) {
        this.table = table;
    }

    Row next() {
        number++;
        return this;
    }

    void is(boolean true_, String column, long value) throws BrokenTable {
        if (!true_) {
            throw broken(column + " " + value);
        }
    }

    void between(long least, long most, String column, long value) throws BrokenTable {
        if (value < least || value > most) {
            throw broken(column + " " + value + " is not in " + least + " to " + most);
        }
    }

    void notNegative(String column, long value) throws BrokenTable {
        between(0, Long.MAX_VALUE, column, value);
    }

    void text(String column, String value) throws BrokenTable {
        there(column, value);
        if (value.length() > MOST_TEXT || value.indexOf('\0') >= 0) {
            throw broken(column + " is a text of " + value.length() + " characters" + (value.indexOf('\0') >= 0 ? " with a NUL" : ""));
        }
    }

    /** As the kernel shows one: absolute. */
    void absolute(String column, String path) throws BrokenTable {
        text(column, path);
        if (!path.startsWith("/")) {
            throw broken(column + " is not an absolute path");
        }
    }

    /** As the kernel shows one that can be walked: absolute, and with nothing in it that such a path does not have: "..", ".", an empty name. */
    void path(String column, String path) throws BrokenTable {
        text(column, path);
        boolean plain = path.startsWith("/");
        for (String name : plain && path.length() > 1 ? path.substring(1).split("/", -1) : new String[0]) {
            plain &= !name.isEmpty() && !name.equals(".") && !name.equals("..");
        }
        if (!plain) {
            throw broken(column + " is not an absolute path without '..'");
        }
    }

    void there(String column, Object value) throws BrokenTable {
        if (value == null) {
            throw broken(column + " is null");
        }
    }

    /** @param unit the length is a multiple of it */
    void bytes(String column, byte[] value, int least, int most, int unit) throws BrokenTable {
        there(column, value);
        length(column, value.length, least, most, unit);
    }

    void length(String column, int length, int least, int most, int unit) throws BrokenTable {
        if (length < least || length > most || length % unit != 0) {
            throw broken(column + " has a length of " + length + (least == most ? ", not " + least : "; " + least + " to " + most + " in steps of " + unit + " can be"));
        }
    }

    BrokenTable broken(String what) {
        return new BrokenTable(table, number, what);
    }
}
