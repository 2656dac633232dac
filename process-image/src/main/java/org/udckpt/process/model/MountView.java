package org.udckpt.process.model;

import java.util.Comparator;
import java.util.List;

/**
 * Where a path of a mount namespace leads in the one in which the job was started.
 *
 * @param rows all of its mounts
 */
public record MountView(List<Row> rows) {
    /**
     * A mount.
     *
     * @param parent number of the mount that it is on; 0: it is the root
     * @param point where it is in the namespace
     * @param outside what is mounted, null: a file system of the job's own
     */
    public record Row(int number, int parent, String point, String outside) {}

    /** The path outside; null: it is on a file system of the job's own. @param path without symbolic links */
    public String outside(String path) {
        Row at = on(path);
        return at == null || at.outside == null ? null : joined(at.outside, path.substring(length(at.point)));
    }

    /** The mount that a path leads to; null: there is none. */
    Row on(String path) {
        Row at = rows.stream().filter(row -> row.parent == 0).findFirst().orElse(null);
        for (Row next = at; next != null; next = over(at, path)) {
            at = next;
        }
        return at;
    }

    /** The mount that a walk along the path comes to first. */
    private Row over(Row at, String path) {
        return rows.stream().filter(row -> row.parent == at.number && row != at && isBelow(path, row.point))
                .min(Comparator.comparingInt(row -> row.point.length())).orElse(null);
    }

    /** Whether a path is that of a directory, or below it. */
    public static boolean isBelow(String path, String directory) {
        return directory.equals("/") || path.equals(directory) || path.startsWith(directory + "/");
    }

    private static int length(String directory) {
        return directory.equals("/") ? 0 : directory.length();
    }

    /** A path that continues another one. @param rest "" or "/", or begins with a slash */
    public static String joined(String path, String rest) {
        String begin = path.equals("/") ? "" : path;
        return begin.isEmpty() && rest.isEmpty() ? "/" : rest.equals("/") && !begin.isEmpty() ? begin : begin + rest;
    }

    /** What of a path comes behind a directory's, with its slash; "/" for the directory itself. */
    public static String behind(String path, String directory) {
        String rest = path.substring(length(directory));
        return rest.isEmpty() ? "/" : rest;
    }
}
