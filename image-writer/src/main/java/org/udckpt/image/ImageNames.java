package org.udckpt.image;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of files in images. */
public final class ImageNames {
    public static final String MANIFEST = "manifest";
    public static final String MANIFEST_TEMPORARY = "manifest.new";
    public static final String WRITER = "writer";
    /** There where the parts of the nodes are not. */
    public static final String PARTS = "parts";
    /** In the directory of all checkpoints: the last id given out, and the lock under which ids are given out. */
    public static final String SEQUENCE = "sequence";
    public static final String LOCK = "lock";
    /** A node's tables about its memory: where each piece of memory is, and what the stripe files hold. */
    public static final String CHUNKS = "chunks", BLOCKS = "blocks";
    /** With what all files of the whole job begin. */
    public static final String JOB = "job.";
    /** Names that a manifest may list: no separators, no way out of the directory. */
    public static final Pattern FILE =
            Pattern.compile("(?:node-\\d{4,9}|job)\\.[a-z][a-z0-9-]{0,63}(?:\\.arrow(?:\\.aes)?)?");
    static final Pattern TABLE = Pattern.compile("[a-z][a-z0-9-]{0,63}");
    /** The highest number that a checkpoint can have. */
    public static final long LAST_ID = 999_999_999_999_999_999L;
    private static final Pattern DIRECTORY = Pattern.compile("ckpt-(\\d{4,18})");

    private ImageNames() {}

    public static String directory(long id) {
        return "ckpt-" + padded(id, 4);
    }

    /** The id of a checkpoint directory; empty for other names (also for ids with needless zeros, which none has). */
    public static OptionalLong id(Path directory) {
        Path name = directory.getFileName();
        Matcher matcher = DIRECTORY.matcher(name == null ? "" : name.toString());
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        long id = Long.parseLong(matcher.group(1));
        return directory(id).equals(name.toString()) ? OptionalLong.of(id) : OptionalLong.empty();
    }

    /** In so many digits or more; String.format(String, Object...) looks at languages before. */
    private static String padded(long number, int least) {
        String digits = Long.toString(number);
        return "0".repeat(Math.max(0, least - digits.length())) + digits;
    }

    /** With what all files of a node begin. */
    public static String node(int node) {
        return "node-" + padded(node, 4) + ".";
    }

    /** Whether a file of a checkpoint is one. */
    public static boolean isStripe(String file) {
        return file.contains(".stripe-");
    }

    /** Name of a stripe file of a node. */
    public static String stripe(int node, int stripe) {
        return node(node) + "stripe-" + padded(stripe, 2);
    }

    public static String nodeTable(int node, String table) {
        return node(node) + checked(table) + ".arrow";
    }

    public static String jobTable(String table) {
        return JOB + checked(table) + ".arrow";
    }

    /** The file that holds a table of an encrypted image: no Arrow tool opens it. */
    public static String encrypted(String table) {
        return table + ".aes";
    }

    private static String checked(String table) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException("not a table name: '" + table + "'; use a-z, 0-9 and -");
        }
        return table;
    }
}
