package org.udckpt.process.names;

import org.udckpt.linux.Files;
import org.udckpt.linux.User;

/**
 * A name in the file system as it is to be.
 *
 * @param path absolute, without symbolic links
 * @param mode permission bits
 * @param uid  -1: the image does not tell; {@code gid} too
 */
public record NewName(Kind kind, String path, int mode, int uid, int gid) {
    /** What it is the name of. */
    public enum Kind {
        SHARED_MEMORY(Files.Stat.REGULAR, "shared memory"),
        FIFO(Files.Stat.FIFO, "FIFO"),
        SOCKET(Files.Stat.SOCKET, "unix socket"),
        DIRECTORY(Files.Stat.DIRECTORY, "directory"),
        LINK(Files.Stat.LINK, "symbolic link");

        final int type;
        final String words;

        Kind(int type, String words) {
            this.type = type;
            this.words = words;
        }
    }

    /** The user who can own it here: an ordinary user cannot give a file away. */
    int owner() {
        return uid < 0 || User.id() != 0 ? User.id() : uid;
    }

    String directory() {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** For messages. */
    String shown() {
        return kind.words + " " + path;
    }
}
