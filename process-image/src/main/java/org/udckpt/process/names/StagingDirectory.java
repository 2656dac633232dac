package org.udckpt.process.names;

import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.SystemRandom;

/**
 * A directory that only this user can enter, beside the place of a new name. The new file gets its owner and mode in it
 * before anybody else can reach it; a rename(2) that replaces nothing then puts it into its place. Closing removes the
 * directory with what is left in it. One that a killed restart left behind is no longer locked: the next restart in the
 * same place removes it.
 */
public final class StagingDirectory implements AutoCloseable {
    private static final int ENOTEMPTY = 39;
    private static final Pattern NAME = Pattern.compile("[.]udckpt-[0-9a-f]{16}");
    /** A younger one may not be locked yet. */
    private static final long YOUNG_NS = 60_000_000_000L;

    private final Folder parent;
    private final String name;
    private final Folder own;

    private StagingDirectory(Folder parent, String name, Folder own) {
        this.parent = parent;
        this.name = name;
        this.own = own;
    }

    /** In {@code parent}, which the caller closes later. */
    public static StagingDirectory in(Folder parent) {
        removeStale(parent);
        String name = ".udckpt-" + HexFormat.of().formatHex(SystemRandom.bytes(8));
        Folder own = parent.makeSub(name);
        own.tryLock(); // where nothing can be locked, nothing is removed as stale
        return new StagingDirectory(parent, name, own);
    }

    private static void removeStale(Folder parent) {
        if (!parent.keepsNames()) {
            return; // somebody could give another directory of this user's such a name
        }
        long young = System.currentTimeMillis() * 1_000_000 - YOUNG_NS;
        for (String name : names(parent)) {
            if (NAME.matcher(name).matches()) {
                try (Folder left = parent.ownSub(name)) {
                    if (left != null && left.stat().modified() < young && left.tryLock()) {
                        left.names().forEach(left::removeTree);
                        parent.removeDirectory(name);
                    }
                } catch (LinuxError otherwise) {
                    if (otherwise.errno() != LinuxError.ENOENT && otherwise.errno() != LinuxError.ENOTDIR
                            && otherwise.errno() != ENOTEMPTY) {
                        throw otherwise; // else another restart has removed it, or somebody exchanged it
                    }
                }
            }
        }
    }

    /** The names in a directory; empty if this user may not read it: then nothing is removed. */
    private static List<String> names(Folder parent) {
        try (Folder listed = parent.sub(".")) { // the parent itself may only be held
            return listed.names();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EACCES) {
                return List.of();
            }
            throw e;
        }
    }

    public Folder folder() {
        return own;
    }

    public Files.Stat stat() {
        return own.stat();
    }

    @Override
    public void close() {
        try (own) {
            own.names().forEach(own::removeTree);
        }
        try {
            // not what is in it: who can write to the parent may have given another directory this name
            parent.removeDirectory(name);
        } catch (LinuxError moved) {
            if (moved.errno() != LinuxError.ENOENT && moved.errno() != LinuxError.ENOTDIR
                    && moved.errno() != ENOTEMPTY) {
                throw moved;
            }
        }
    }
}
