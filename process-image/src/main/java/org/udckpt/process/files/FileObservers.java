package org.udckpt.process.files;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;

/**
 * Observers that would notice that a file is opened and read: holders of a write lease on it (fcntl(2), F_SETLEASE),
 * and the job's own watches on it or on its directory (inotify, fanotify). Files are told apart by their inode numbers:
 * what the kernel prints of devices is not what stat(2) says on every file system. Two files of one number are at most
 * both read with care.
 */
public final class FileObservers {
    /** IN_ACCESS, IN_CLOSE_NOWRITE, IN_OPEN: what reading a file tells. */
    private static final int READING = 1 | 0x10 | 0x20;

    private final FileLeases leases;
    private final Set<Long> watched = new HashSet<>();
    private final Set<Long> watchedForAnything = new HashSet<>();
    /** A whole mount or file system is watched (fanotify(7)): which files are in it is not asked. */
    private boolean all;

    /** @param leases that were seen before */
    public FileObservers(FileLeases leases) {
        this.leases = leases.copy();
    }

    /**
     * @param fdinfo of any descriptor of the job (proc_pid_fdinfo(5)): its lease; an inotify descriptor's tells its
     *     watches
     */
    public void see(String fdinfo) {
        if (!fdinfo.contains("inotify wd:") && !fdinfo.contains("LEASE") && !fdinfo.contains("fanotify ")) {
            return;
        }
        for (String line : fdinfo.split("\n")) {
            if (line.startsWith("lock:")) {
                leases.add(line.substring("lock:".length()));
            }
            String[] words = line.split("[\\s:]+"); // inotify, wd, hex, ino, hex, sdev, hex, mask, hex, ...
            if (words.length > 8 && words[0].equals("inotify")) {
                long inode = Long.parseUnsignedLong(words[4], 16);
                watchedForAnything.add(inode);
                if ((Integer.parseUnsignedInt(words[8], 16) & READING) != 0) {
                    watched.add(inode);
                }
            } else if (words[0].equals("fanotify")) {
                seeMark(words);
            }
        }
    }

    /** fanotify, ino, hex, sdev, hex, mflags, hex, mask, hex, ...; or fanotify, mnt_id, hex, mflags, hex, mask, hex. */
    private void seeMark(String[] words) {
        int mask = List.of(words).indexOf("mask") + 1;
        if (mask > 0 && mask < words.length && (Integer.parseUnsignedInt(words[mask], 16) & READING) != 0) {
            if (words[1].equals("ino")) {
                watched.add(Long.parseUnsignedLong(words[2], 16));
            } else {
                all = true;
            }
        }
    }

    /** Any open breaks a write lease: its holder gets a signal, which ends a program that does not expect it. */
    boolean hasLease(Files.Stat stat) {
        return leases.contains(stat);
    }

    /** @param path of the file; the watch may be on its directory */
    boolean isWatched(Files.Stat stat, String path) {
        return all || !watched.isEmpty() && (watched.contains(stat.inode()) || contains(watched, directory(path)));
    }

    /** Whether the job would hear of a file that is made beside this one, though without a name. */
    boolean isDirectoryWatched(String path) {
        return !watchedForAnything.isEmpty() && contains(watchedForAnything, directory(path));
    }

    private static boolean contains(Set<Long> inodes, Files.Stat stat) {
        return stat != null && inodes.contains(stat.inode());
    }

    private static Files.Stat directory(String path) {
        int slash = path.lastIndexOf('/');
        return slash < 0 ? null : Files.tryStat(slash == 0 ? "/" : path.substring(0, slash));
    }
}
