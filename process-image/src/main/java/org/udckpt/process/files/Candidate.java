package org.udckpt.process.files;

import org.udckpt.linux.Files;
import org.udckpt.process.model.JobFile;

/** A regular file that is to be saved, as it was found in the stop. */
final class Candidate implements AutoCloseable {
    private static final long QUIET_NS = 3_000_000_000L;

    final String path;
    final Files.Stat stat;
    final String key;
    /** Descriptor of this process; -1 once {@link #contents} has it. */
    private int fd;
    /** Number of its content in the image; 0: not given yet. */
    long id;
    /** Some process maps it shared and writable: what it writes there no time stamp tells. */
    boolean mapped;
    /** Some process has it open for writing otherwise than for appending. */
    boolean overwritable;
    /** Some process has it open for writing. */
    boolean written;
    /** The descriptor is that of a copy already. */
    boolean copied;
    JobFile.Cut cut;
    FileContents contents;
    FrozenEnds ends;

    /** Takes over {@code fd}. */
    Candidate(String path, int fd, Files.Stat stat) {
        this.path = path;
        this.fd = fd;
        this.stat = stat;
        this.key = key(stat);
    }

    static String key(Files.Stat stat) {
        return stat.device() + ":" + stat.inode();
    }

    /** Not written for a while. */
    static boolean isQuiet(Files.Stat stat) {
        return stat.changed() < Clock.now() - QUIET_NS;
    }

    long size() {
        return stat.size();
    }

    int descriptor() {
        return contents == null ? fd : contents.descriptor();
    }

    /** Marks it as saved from the file itself, later. */
    void live(JobFile.Cut how, long id) {
        cut = how;
        contents = new FileContents(id, path, fd, size());
        fd = -1;
    }

    /** Marks it as saved from {@code other}, which has the same content now. */
    void from(int other, JobFile.Cut how, long id) {
        cut = how;
        contents = new FileContents(id, path, other, size());
        Files.close(fd);
        fd = -1;
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Files.close(fd);
            fd = -1;
        }
        if (contents != null) {
            contents.close();
        }
        if (ends != null) {
            ends.close();
        }
    }
}
