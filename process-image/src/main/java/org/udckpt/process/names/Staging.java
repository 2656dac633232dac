package org.udckpt.process.names;

import java.security.SecureRandom;
import java.util.HexFormat;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;

/**
 * A directory that only this user can enter, beside where a name is to stand: there it gets its owner and mode before anybody else can reach it, and a
 * rename(2) that replaces nothing puts it into its place. Closing removes it with what is left in it.
 */
public final class Staging implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int ENOTEMPTY = 39;

    private final Folder parent;
    private final String name;
    private final Folder own;

    private Staging(Folder parent, String name, Folder own) {
        this.parent = parent;
        this.name = name;
        this.own = own;
    }

    /** In {@code parent}, which the caller closes later. */
    static Staging in(Folder parent) {
        byte[] random = new byte[8];
        RANDOM.nextBytes(random);
        String name = ".udckpt-" + HexFormat.of().formatHex(random);
        return new Staging(parent, name, parent.makeSub(name));
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
            parent.removeDirectory(name); // not what is in it: who can write to the parent may have given another directory this name
        } catch (LinuxError moved) {
            if (moved.errno() != LinuxError.ENOENT && moved.errno() != LinuxError.ENOTDIR && moved.errno() != ENOTEMPTY) {
                throw moved;
            }
        }
    }
}
