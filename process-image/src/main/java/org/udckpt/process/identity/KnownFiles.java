package org.udckpt.process.identity;

import static org.udckpt.linux.LinuxConstants.O_NOATIME;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.udckpt.linux.Files;
import org.udckpt.linux.FoundFile;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * Remembers files from one checkpoint to the next, so that each is read once. The key is device, inode, size and times.
 * A file is remembered only if its times are old enough that a later write must show in them. One per agent; for one
 * thread at a time.
 */
public final class KnownFiles {
    /** Longer than the coarsest time stamp of any file system (FAT: two seconds). */
    private static final long GRAIN_NS = 3_000_000_000L;

    /** @param digest null: it has not been read. @param sealed whether a later write will show in its times */
    record Known(long bornNs, boolean sealed, ContentDigest digest, String undigested) {}

    private record Key(long device, long inode, long size, long modified, long changed) {
        static Key of(Files.Stat stat) {
            return new Key(stat.device(), stat.inode(), stat.size(), stat.modified(), stat.changed());
        }
    }

    private final Map<Key, Known> before = new HashMap<>();
    private final Map<Key, Known> now = new HashMap<>();
    private long readBytes;

    /**
     * @param read whether its digest is wanted.
     * @param hindrance why it must not be opened, or ""; asked before it is
     */
    Known of(FoundFile file, boolean read, Supplier<String> hindrance) {
        Key key = Key.of(file.stat());
        Known known = now.getOrDefault(key, before.get(key));
        if (known == null || read && known.digest() == null && known.undigested().isEmpty()) {
            known = read ? read(file, hindrance.get())
                    : new Known(Files.born(file.fd()), sealed(file.stat()), null, "");
        }
        if (known.sealed() && !(read && known.digest() == null)) {
            now.put(key, known);
        }
        return known;
    }

    /** The record of a file that must not be opened. */
    static Known unread(FoundFile file, String why) {
        return new Known(Files.born(file.fd()), false, null, why);
    }

    private Known read(FoundFile file, String hindrance) {
        long born = Files.born(file.fd());
        boolean sealed = sealed(file.stat());
        if (!hindrance.isEmpty()) {
            return new Known(born, sealed, null, hindrance);
        }
        if (file.stat().size() > ContentDigest.MOST_BYTES) {
            return new Known(born, sealed, null, "it is larger than 1 GiB");
        }
        int fd;
        try {
            fd = open(file);
        } catch (LinuxError unreadable) {
            return new Known(born, sealed, null, "it cannot be read: " + LinuxError.name(unreadable.errno()));
        }
        try {
            ContentDigest digest = ContentDigest.of(fd, file.path());
            readBytes += file.stat().size();
            boolean same = Key.of(Files.stat(fd)).equals(Key.of(file.stat()));
            return same ? new Known(born, sealed, digest, "")
                    : new Known(born, false, null, "it was written to while it was read");
        } finally {
            Files.close(fd);
        }
    }

    /** A write from now on gives it another time of change, which nobody but root can set back, by the clock. */
    private static boolean sealed(Files.Stat stat) {
        return stat.changed() < System.currentTimeMillis() * 1_000_000L - GRAIN_NS;
    }

    /** Its time of access stays where the owner asks for that (open(2), O_NOATIME). */
    private static int open(FoundFile file) {
        int flags = Syscall.O_RDONLY | Syscall.O_NONBLOCK;
        try {
            return file.reopen(flags | O_NOATIME);
        } catch (LinuxError notItsOwner) {
            if (notItsOwner.errno() != LinuxError.EPERM) {
                throw notItsOwner;
            }
            return file.reopen(flags);
        }
    }

    /** At the end of a checkpoint: what it had no use for is forgotten. */
    void keepUsed() {
        before.clear();
        before.putAll(now);
        now.clear();
    }

    /** How much has been read for digests so far. */
    public long readBytes() {
        return readBytes;
    }
}
