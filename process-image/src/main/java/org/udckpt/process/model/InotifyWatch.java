package org.udckpt.process.model;

/**
 * One watch (inotify(7)).
 *
 * @param inotify id of the {@code InotifyFd}
 * @param number the watch descriptor, by which the program knows it
 * @param mask of inotify_add_watch(2)
 */
public record InotifyWatch(long inotify, int number, String path, int mask) {
    /** The kernel counts upwards, and a restart has to count to there. */
    public static final int NUMBER_MOST = 4096;
}
