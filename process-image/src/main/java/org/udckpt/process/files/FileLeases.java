package org.udckpt.process.files;

import java.util.HashSet;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;

/**
 * Files on which somebody holds a write lease (fcntl(2), F_SETLEASE), by inode number: any open breaks it, and its
 * holder gets a signal, which ends a program that does not expect it. To read /proc/locks takes a grace period of the
 * kernel's RCU (percpu_down_write(), fs/locks.c), which may be longer than all of a stop: it is read before, and what
 * the job itself holds by then is shown by its descriptors.
 */
public final class FileLeases {
    /** Words of a line of proc_locks(5): {@code 1: LEASE  ACTIVE    WRITE 359 00:13:11691 0 EOF}. */
    private static final int KIND = 1, ACCESS = 3, FILE = 5;

    private final Set<Long> inodes;

    private FileLeases(Set<Long> inodes) {
        this.inodes = inodes;
    }

    /** All that there are now. Not in a stop. */
    public static FileLeases now() {
        FileLeases leases = new FileLeases(new HashSet<>());
        Proc.text("/proc/locks").lines().forEach(leases::add);
        return leases;
    }

    FileLeases copy() {
        return new FileLeases(new HashSet<>(inodes));
    }

    /** @param line of proc_locks(5), of a lock of any kind */
    void add(String line) {
        String[] words = line.strip().split("\\s+");
        if (words.length > FILE && (words[KIND].equals("LEASE") || words[KIND].equals("DELEG"))
                && !words[ACCESS].equals("READ")) {
            inodes.add(Long.parseUnsignedLong(words[FILE].substring(words[FILE].lastIndexOf(':') + 1)));
        }
    }

    public boolean contains(Files.Stat stat) {
        return inodes.contains(stat.inode());
    }
}
